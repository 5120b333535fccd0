package filestate

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"github.com/larder-data/larder/key"
)

// list adds the files in a directory, by name, and returns the directories in it. It
// follows links. It reads the state of each name relative to the directory, at a third
// of the cost of the general way. It uses all processors for a large directory.
func list(found []entry, dir string) (_ []entry, dirs []string, err error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	l := lister{dir: dir, fd: int(f.Fd())}
	names, err := l.names()
	if err != nil {
		return nil, nil, err
	}
	sortNames(names)
	all := make([]entry, len(names))
	if err := l.look(names, all); err != nil {
		return nil, nil, err
	}
	found = slices.Grow(found, len(all))
	for i := range all {
		switch all[i].kind {
		case aFile:
			found = append(found, all[i])
		case aDir:
			dirs = append(dirs, all[i].name)
		}
	}
	return found, dirs, nil
}

// sortNames sorts names. It compares their first bytes as integers, because most names
// differ there.
func sortNames(names []string) {
	type begun struct {
		first uint64
		name  string
	}
	all := make([]begun, len(names))
	for i, n := range names {
		var first [8]byte
		copy(first[:], n) // a name has no zero byte, so shorter names come first
		all[i] = begun{binary.BigEndian.Uint64(first[:]), n}
	}
	slices.SortFunc(all, func(a, b begun) int {
		if a.first != b.first {
			return cmp.Compare(a.first, b.first)
		}
		return strings.Compare(a.name, b.name)
	})
	for i := range all {
		names[i] = all[i].name
	}
}

// lister reads the states of names in a directory.
type lister struct {
	dir string
	fd  int
}

// names lists the names in the directory, each followed by a zero byte: see statAt.
func (l lister) names() (names []string, err error) {
	buf := make([]byte, 1<<16)
	var buffer []byte
	for {
		n, err := unix.ReadDirent(l.fd, buf)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return nil, &os.PathError{Op: "readdirent", Path: l.dir, Err: err}
		}
		if n == 0 {
			return names, nil
		}
		names, buffer = appendNames(names, buffer, buf[:n])
	}
}

// nameAt is the offset of the name in a directory entry (struct linux_dirent64).
const nameAt = 19

const spaceBytes = 1 << 18

// appendNames appends the names in entries. It stores their bytes in buffer, so that
// thousands share an allocation.
func appendNames(names []string, buffer, entries []byte) ([]string, []byte) {
	for len(entries) > nameAt {
		length := int(binary.NativeEndian.Uint16(entries[16:]))
		if length <= nameAt || length > len(entries) {
			break
		}
		name, inode := entries[nameAt:length], binary.NativeEndian.Uint64(entries)
		entries = entries[length:]
		if end := bytes.IndexByte(name, 0); end >= 0 {
			name = name[:end]
		}
		if inode == 0 || string(name) == "." || string(name) == ".." || len(name) == 0 {
			continue
		}
		if cap(buffer)-len(buffer) <= len(name) {
			buffer = make([]byte, 0, spaceBytes)
		}
		from := len(buffer)
		buffer = append(append(buffer, name...), 0)
		names = append(names, unsafe.String(&buffer[from], len(name)))
	}
	return names, buffer
}

// lookAtOnce is the least number of names per goroutine.
const lookAtOnce = 2048

func (l lister) look(names []string, all []entry) error {
	each := max(lookAtOnce, (len(names)+runtime.GOMAXPROCS(0)-1)/runtime.GOMAXPROCS(0))
	if len(names) <= each {
		return l.lookAt(names, all)
	}
	var g errgroup.Group
	for from := 0; from < len(names); from += each {
		to := min(from+each, len(names))
		g.Go(func() error { return l.lookAt(names[from:to], all[from:to]) })
	}
	return g.Wait()
}

func (l lister) lookAt(names []string, all []entry) error {
	for i, name := range names {
		e := &all[i]
		e.name = name
		var s unix.Stat_t
		switch err := statAt(l.fd, name, &s); {
		case err != nil && unix.Fstatat(l.fd, name, &s, unix.AT_SYMLINK_NOFOLLOW) == nil && s.Mode&unix.S_IFMT == unix.S_IFLNK:
			e.lost = true
		case errors.Is(err, unix.ENOENT): // it was removed just now
			e.kind = gone
		case err != nil:
			return &os.PathError{Op: "stat", Path: l.dir + "/" + name, Err: err}
		case s.Mode&unix.S_IFMT == unix.S_IFDIR:
			e.kind = aDir
		default:
			e.stat = stateOf(&s)
		}
	}
	return nil
}

// Files lists the regular files in a directory, without links and subdirectories.
func Files(dir string, file func(name string, s key.FileStat)) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	l := lister{dir: dir, fd: int(f.Fd())}
	names, err := l.names()
	if err != nil {
		return err
	}
	for _, name := range names {
		var s unix.Stat_t
		switch err := unix.Fstatat(l.fd, name, &s, unix.AT_SYMLINK_NOFOLLOW); {
		case err == unix.ENOENT: // it was removed just now
		case err != nil:
			return &os.PathError{Op: "lstat", Path: dir + "/" + name, Err: err}
		case s.Mode&unix.S_IFMT == unix.S_IFREG:
			file(name, stateOf(&s))
		}
	}
	return nil
}

func stateOf(s *unix.Stat_t) key.FileStat {
	return key.FileStat{
		Dev: s.Dev, Ino: s.Ino, Size: s.Size,
		Mtime: time.Unix(s.Mtim.Unix()).UnixNano(), Ctime: time.Unix(s.Ctim.Unix()).UnixNano(),
	}
}
