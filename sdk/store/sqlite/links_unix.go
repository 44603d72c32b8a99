//go:build !windows

package sqlite

import (
	"io/fs"
	"syscall"
)

// linksOf returns the number of hard links of a file.
func linksOf(_ string, info fs.FileInfo) (uint64, error) {
	if stat, is := info.Sys().(*syscall.Stat_t); is {
		return uint64(stat.Nlink), nil
	}
	return 1, nil
}
