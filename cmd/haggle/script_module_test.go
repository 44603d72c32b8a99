package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/haggle-protocol/haggle/internal/cli/solanaconfig"
)

// modulePath is the path of this repository's module.
const modulePath = "github.com/haggle-protocol/haggle"

// module copies a directory with a program into a separate module outside the repository, builds it and adds
// it to the PATH: "module NAME FOLDER". A relative FOLDER is in testdata.
func module(ts *testscript.TestScript, _ bool, arguments []string) {
	name, source := arguments[0], arguments[1]
	checkout := ts.Getenv("CHECKOUT")
	if !filepath.IsAbs(source) {
		source = filepath.Join(checkout, "testdata", source)
	}
	repository := filepath.Join(checkout, "..", "..")
	folder := filepath.Join(ts.MkAbs("."), "module-"+name)
	ts.Check(os.CopyFS(folder, os.DirFS(source)))
	goMod, err := os.ReadFile(filepath.Join(repository, "go.mod"))
	ts.Check(err)
	// The module has the repository's requirements, as "go get" would add them.
	content := strings.Replace(string(goMod), "module "+modulePath, "module example.com/"+name, 1) +
		"\nrequire " + modulePath + " v0.0.0\n\nreplace " + modulePath + " => " + repository + "\n"
	ts.Check(os.WriteFile(filepath.Join(folder, "go.mod"), []byte(content), 0o600))
	goSum, err := os.ReadFile(filepath.Join(repository, "go.sum"))
	ts.Check(err)
	ts.Check(os.WriteFile(filepath.Join(folder, "go.sum"), goSum, 0o600))
	programs := ts.MkAbs("programs")
	ts.Check(os.MkdirAll(programs, 0o700))
	// The test's environment defines Go's caches.
	build := exec.Command("go", "build", "-mod=mod", "-o", filepath.Join(programs, name), ".")
	build.Dir = folder
	output, err := build.CombinedOutput()
	if err != nil {
		ts.Fatalf("%v\n%s", err, output)
	}
	ts.Setenv("PATH", programs+string(os.PathListSeparator)+ts.Getenv("PATH"))
}

// loadJSON sets a variable to a JSON file's field: "load-json NAME FILE PATH".
func loadJSON(ts *testscript.TestScript, _ bool, arguments []string) {
	var document map[string]any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(arguments[1])), &document))
	value, isText := document[strings.TrimPrefix(arguments[2], ".")].(string)
	if !isText {
		ts.Fatalf("%s has no text %s", arguments[1], arguments[2])
	}
	ts.Setenv(arguments[0], value)
}

// takenPort starts a localnet at a URL's port, which is in use, and requires an error that names the flag:
// "taken-port URL".
func takenPort(ts *testscript.TestScript, _ bool, arguments []string) {
	port := arguments[0][strings.LastIndex(arguments[0], ":")+1:]
	exits(ts, false, []string{"2", "haggle", "localnet", "--port", port})
	for _, word := range []string{"already", "--port"} {
		if !strings.Contains(ts.ReadFile("stderr"), word) {
			ts.Fatalf("the message does not contain %q", word)
		}
	}
}

// loadConfig sets a variable to the host and port of a configured endpoint: "load-config NAME FILE".
func loadConfig(ts *testscript.TestScript, _ bool, arguments []string) {
	config, err := solanaconfig.Read(ts.MkAbs(arguments[1]))
	ts.Check(err)
	ts.Setenv(arguments[0], strings.TrimPrefix(config.URL, "http://"))
}
