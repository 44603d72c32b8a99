package sqlite

import (
	"errors"
	"io/fs"
	"syscall"
)

// linksOf returns a file's number of hard links.
func linksOf(path string, _ fs.FileInfo) (_ uint64, err error) {
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return 0, err
	}
	const share = syscall.FILE_SHARE_READ | syscall.FILE_SHARE_WRITE | syscall.FILE_SHARE_DELETE
	handle, err := syscall.CreateFile(name, 0, share, nil, syscall.OPEN_EXISTING, 0, 0)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, syscall.CloseHandle(handle)) }()
	var information syscall.ByHandleFileInformation
	err = syscall.GetFileInformationByHandle(handle, &information)
	return uint64(information.NumberOfLinks), err
}
