//go:build unix

package display

import (
	"io/fs"
	"os"
	"syscall"
)

var causes = []cause{
	{fs.ErrNotExist, "there is no file or folder %s"},
	{fs.ErrPermission, "%s: the rights of the file, or of its folder, do not allow it"},
	{syscall.EISDIR, "%s is a folder, where a file is needed"},
	{syscall.ENOTDIR, "%s: a file stands where a folder is needed"},
	{syscall.ENAMETOOLONG, "%s: the name is too long for the file system"},
	{syscall.ELOOP, "%s: links lead to each other there, and to no file"},
	{syscall.EINVAL, "%s: the file system takes no such name, or does not do this"},
	{syscall.ENOSPC, "%s: no space left on the disk"},
	{syscall.EDQUOT, "%s: no space left that you may use"},
	{syscall.EROFS, "%s: the file system is read-only"},
	{syscall.ENOTEMPTY, "%s: the folder is not empty"},
	{fs.ErrExist, "%s is there already"},
	{syscall.EXDEV, "%s: it lies on another file system"},
	{syscall.EMFILE, "%s: too many files are open; raise the limit by ulimit -n"},
	{os.ErrDeadlineExceeded, "%s: it took too long"},
}
