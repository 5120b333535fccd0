package disk

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/larder-data/larder/store/disk/internal/format"
	"github.com/larder-data/larder/store/disk/internal/vfs"
)

const (
	packSuffix  = ".pack"
	indexSuffix = ".idx"
)

// A pack is a file of records. One writer at a time holds its lock and appends; all others
// read. A pack without write permission is sealed: it does not grow.
type pack struct {
	format.Pack
	number uint32
	path   string
	file   *vfs.File   // its reader
	own    atomic.Bool // this process appends to it
	gone   atomic.Bool // the file was removed from the directory

	// Guarded by index.mu: what the index has of the pack.
	known int64  // records before this offset
	blobs uint64 // bytes of their blobs

	// Guarded by dirView.mu.
	end     int64 // records before this offset are known
	size    int64 // at the last stat
	mtime   int64 // ns, at the last stat
	sealed  bool
	indexed int64 // the index file covers records before this offset
}

// newPack returns the pack at path, which still needs a file.
func newPack(id uint64, path string) *pack {
	return &pack{Pack: format.Pack{ID: id}, path: path}
}

// open sets the file from which p is read.
func (p *pack) open(file *vfs.File) { p.file, p.Reader = file, file }

// learn counts a record passed to the index, possibly not for the first time.
func (p *pack) learn(e *format.Entry) {
	if e.Offset() >= p.known {
		p.known = e.Offset() + e.Bytes()
		p.blobs += e.Blob
	}
}

func packName(id uint64) string { return fmt.Sprintf("%016x%s", id, packSuffix) }

// parsePackName returns the id in a file name.
func parsePackName(name string) (id uint64, ok bool) {
	digits, ok := strings.CutSuffix(name, packSuffix)
	if !ok || len(digits) != 16 {
		return 0, false
	}
	id, err := strconv.ParseUint(digits, 16, 64)
	return id, err == nil && packName(id) == name
}

func (p *pack) indexPath() string { return strings.TrimSuffix(p.path, packSuffix) + indexSuffix }

func isSealed(info os.FileInfo) bool { return info.Mode()&0o222 == 0 }
