//go:build !unix

package display

import "io/fs"

var causes = []cause{
	{fs.ErrNotExist, "there is no file or folder %s"},
	{fs.ErrPermission, "%s: the rights of the file, or of its folder, do not allow it"},
	{fs.ErrExist, "%s is there already"},
}
