//go:build !windows

package sqlite

import (
	"io/fs"
	"syscall"
)

// linksOf returns a file's number of hard links.
func linksOf(_ string, info fs.FileInfo) (uint64, error) {
	if stat, is := info.Sys().(*syscall.Stat_t); is {
		return uint64(stat.Nlink), nil
	}
	return 1, nil
}
