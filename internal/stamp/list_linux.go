package stamp

import (
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/larder-data/larder/key"
)

// list adds the files in a folder, and returns the folders in it, links followed.
// It asks for each by its name in the folder, at a third of what the general way
// costs.
func list(found []entry, dir string) (_ []entry, folders []string, err error) {
	err = each(dir, func(fd int, name string) error {
		var s unix.Stat_t
		switch err := unix.Fstatat(fd, name, &s, 0); {
		case err != nil && unix.Fstatat(fd, name, &s, unix.AT_SYMLINK_NOFOLLOW) == nil && s.Mode&unix.S_IFMT == unix.S_IFLNK:
			found = append(found, entry{name: name, lost: true})
		case err == unix.ENOENT: // it was removed just now
		case err != nil:
			return &os.PathError{Op: "stat", Path: dir + "/" + name, Err: err}
		case s.Mode&unix.S_IFMT == unix.S_IFDIR:
			folders = append(folders, name)
		default:
			found = append(found, entry{name: name, stat: stateOf(&s)})
		}
		return nil
	})
	return found, folders, err
}

// Files tells of the regular files in a folder: not of links, nor of what lies in
// folders below.
func Files(dir string, file func(name string, s key.FileStat)) error {
	return each(dir, func(fd int, name string) error {
		var s unix.Stat_t
		switch err := unix.Fstatat(fd, name, &s, unix.AT_SYMLINK_NOFOLLOW); {
		case err == unix.ENOENT: // it was removed just now
		case err != nil:
			return &os.PathError{Op: "lstat", Path: dir + "/" + name, Err: err}
		case s.Mode&unix.S_IFMT == unix.S_IFREG:
			file(name, stateOf(&s))
		}
		return nil
	})
}

func stateOf(s *unix.Stat_t) key.FileStat {
	return key.FileStat{
		Dev: s.Dev, Ino: s.Ino, Size: s.Size,
		Mtime: time.Unix(s.Mtim.Unix()).UnixNano(), Ctime: time.Unix(s.Ctim.Unix()).UnixNano(),
	}
}

// each tells of the names in a folder, which is open as fd.
func each(dir string, entry func(fd int, name string) error) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	fd := int(f.Fd())
	buf := make([]byte, 1<<16)
	var names []string
	for {
		n, err := unix.ReadDirent(fd, buf)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return &os.PathError{Op: "readdirent", Path: dir, Err: err}
		}
		if n == 0 {
			return nil
		}
		_, _, names = unix.ParseDirent(buf[:n], -1, names[:0])
		for _, name := range names {
			if err := entry(fd, name); err != nil {
				return err
			}
		}
	}
}
