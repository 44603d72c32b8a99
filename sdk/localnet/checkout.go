package localnet

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

const modulePath = "github.com/haggle-protocol/haggle"

// findCheckout walks up from the working directory to this module's go.mod, and answers with its folder.
func findCheckout() (root string, err error) {
	start, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for folder := start; ; folder = filepath.Dir(folder) {
		content, err := os.ReadFile(filepath.Join(folder, "go.mod"))
		if err == nil && strings.HasPrefix(string(content), "module "+modulePath+"\n") {
			return folder, nil
		}
		if folder == filepath.Dir(folder) {
			return "", fmt.Errorf("%s is not inside a checkout of %s", start, modulePath)
		}
	}
}
