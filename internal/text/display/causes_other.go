//go:build !unix

package display

import "io/fs"

var causes = []cause{
	{fs.ErrNotExist, "%s: no such file or directory"},
	{fs.ErrPermission, "%s: permission denied by the file or its directory"},
	{fs.ErrExist, "%s already exists"},
}
