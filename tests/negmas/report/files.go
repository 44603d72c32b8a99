package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/haggle-protocol/haggle/tests/negmas"
)

// recordFiles writes scenario files, and records NegMAS' utilities for these files and for files written by
// NegMAS.
func recordFiles(python, folder string) error {
	root := filepath.Join(folder, "testdata", "files")
	if err := os.RemoveAll(root); err != nil {
		return err
	}
	files, err := negmas.Files()
	if err != nil {
		return err
	}
	var plan []any
	written := filepath.Join(root, "written")
	for _, file := range files {
		if err := file.Write(written); err != nil {
			return fmt.Errorf("%s: %w", file.Name, err)
		}
		plan = append(plan, file.Plan(written))
	}
	input, err := json.Marshal(plan)
	if err != nil {
		return err
	}
	command := exec.Command(python, filepath.Join(folder, "files.py"), filepath.Join(root, "answers.json"),
		filepath.Join(root, "dumped"))
	command.Stdin, command.Stderr = bytes.NewReader(input), os.Stderr
	if err := command.Run(); err != nil {
		return fmt.Errorf("%s: %w", command, err)
	}
	return nil
}
