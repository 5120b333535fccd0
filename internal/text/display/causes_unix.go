//go:build unix

package display

import (
	"io/fs"
	"os"
	"syscall"
)

var causes = []cause{
	{fs.ErrNotExist, "%s: no such file or directory"},
	{fs.ErrPermission, "%s: permission denied by the file or its directory"},
	{syscall.EISDIR, "%s is a directory, not a file"},
	{syscall.ENOTDIR, "%s: a file, not a directory, is in the path"},
	{syscall.ENAMETOOLONG, "%s: the name is too long for the file system"},
	{syscall.ELOOP, "%s: symbolic links form a cycle"},
	{syscall.EINVAL, "%s: the file system does not support this name or operation"},
	{syscall.ENOSPC, "%s: no space left on the disk"},
	{syscall.EDQUOT, "%s: disk quota exceeded"},
	{syscall.EROFS, "%s: the file system is read-only"},
	{syscall.ENOTEMPTY, "%s: the directory is not empty"},
	{fs.ErrExist, "%s already exists"},
	{syscall.EXDEV, "%s: on another file system"},
	{syscall.EMFILE, "%s: too many open files; raise ulimit -n"},
	{os.ErrDeadlineExceeded, "%s: timed out"},
}
