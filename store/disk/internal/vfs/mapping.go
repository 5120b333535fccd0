package vfs

import (
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"strings"
	"sync"
	"unsafe"
	"weak"

	"github.com/larder-data/larder/store/disk/internal/format"
)

// A caller may slice a payload and keep the slice for any time: only the garbage collector
// knows when the last slice is gone. So large files are mapped over memory of the Go heap,
// which the collector treats and counts like other memory. When no slice refers to it, a
// finalizer maps plain memory there before it is used again. A mapping never ends while a
// reader has it.

// Mappings holds the files that a store has mapped into memory.
type Mappings struct {
	directory *Directory
	limit     int64 // bytes; payloads beyond are read

	mu    sync.Mutex
	files map[fileID]*mapping
	at    map[weak.Pointer[byte]]*mapping // mapped files, by their content
	all   map[*mapping]bool               // until they are released
	bytes int64                           // of all, counted before mapping
	gone  int64                           // the part of bytes whose files are known to be removed
}

// A mapping is a mapped file. It stays the same file while it is mapped, so a file found by
// its ID is that file.
type mapping struct {
	id    fileID
	path  string
	first weak.Pointer[byte] // of the content; nil once it is unused
	gone  bool               // the file was removed
}

// maxMapped bounds mapped memory if the cap of the store does not: the collector counts it
// as heap, and lets garbage grow in proportion.
const maxMapped = min(2<<30, math.MaxInt/8)

// mappedPart is the part of the cap that may be mapped: removed files take space until
// their mappings end.
const mappedPart = 4

// NewMappings returns the mappings of a store with a cap; 0 means no cap.
func (f *Directory) NewMappings(limit int64) *Mappings {
	m := &Mappings{directory: f, limit: maxMapped, files: make(map[fileID]*mapping), at: make(map[weak.Pointer[byte]]*mapping), all: make(map[*mapping]bool)}
	if limit > 0 {
		m.limit = min(m.limit, limit/mappedPart)
	}
	return m
}

// Open returns the content of a regular file of size bytes: mapped, if the limit allows.
func (m *Mappings) Open(path string, size int64) (data []byte, mapped bool, err error) {
	id, err := identify(path)
	if err != nil {
		return nil, false, err
	}
	if err := id.check(size); err != nil {
		return nil, false, err
	}
	if data := m.find(id); data != nil {
		return data, true, nil
	}
	f, err := m.directory.OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		return nil, false, err
	}
	defer func() { _ = f.Close() }() // only read
	if id, err = identifyOpen(f.File); err != nil {
		return nil, false, err
	}
	if err := id.check(size); err != nil {
		return nil, false, err
	}
	if data, ok := m.add(f.File, id, path); ok {
		return data, true, nil
	}
	data = make([]byte, size) // the file is that long: checked above
	_, err = io.ReadFull(f, data)
	return data, false, err
}

// find returns the content of a file that is mapped and in use, otherwise nil.
func (m *Mappings) find(id fileID) []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.files[id].data()
}

// File returns the path of the file that is mapped as exactly data.
func (m *Mappings) File(data []byte) (path string, ok bool) {
	if len(data) == 0 {
		return "", false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	f := m.at[weak.Make(&data[0])]
	if f == nil || f.gone || f.id.size != int64(len(data)) {
		return "", false
	}
	return f.path, true
}

// data returns the content while it is in use.
func (f *mapping) data() []byte {
	if f == nil {
		return nil
	}
	first := f.first.Value()
	if first == nil {
		return nil
	}
	return unsafe.Slice(first, int(f.id.size))
}

// add maps a file, if possible within the limit. If another goroutine just did so, both
// mappings stay.
func (m *Mappings) add(file *os.File, id fileID, path string) (data []byte, ok bool) {
	f := &mapping{id: id, path: path}
	if id.size == 0 || !m.reserve(f) {
		return nil, false
	}
	page := os.Getpagesize()
	space := roundTo(int(id.size), page)
	base := heapBytes(space + page)
	offset := -int(uintptr(unsafe.Pointer(base))) & (page - 1)
	first := (*byte)(unsafe.Add(unsafe.Pointer(base), offset))
	plain := func(base *byte) {
		if err := unmapOver(unsafe.Add(unsafe.Pointer(base), offset), space); err != nil {
			immortal.Store(base, nil) // the heap must not reuse memory that cannot be written
			return
		}
		m.release(f)
	}
	if err := mapOver(unsafe.Pointer(first), space, file); err != nil {
		plain(base) // a failure may have unmapped what was there
		return nil, false
	}
	weakly := weak.Make(first)
	runtime.SetFinalizer(base, plain)
	m.mu.Lock()
	defer m.mu.Unlock()
	f.first, m.files[id], m.at[weakly] = weakly, f, f
	return unsafe.Slice(first, int(id.size)), true
}

// immortal holds memory that could not be made plain again.
var immortal sync.Map

// heapBytes returns the first of n bytes that are a separate object and not cleared:
// clearing would allocate pages that the file is about to replace.
func heapBytes(n int) *byte {
	var b strings.Builder
	b.Grow(n)
	b.WriteByte(0)
	return unsafe.StringData(b.String())
}

func roundTo(n, unit int) int { return (n + unit - 1) &^ (unit - 1) }

// reserve counts a mapping, if the limit allows it.
func (m *Mappings) reserve(f *mapping) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.bytes+f.id.size > m.limit {
		return false
	}
	m.all[f] = true
	m.bytes += f.id.size
	return true
}

// Count returns the number of mapped files and their bytes.
func (m *Mappings) Count() (files int, bytes int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.all), m.bytes
}

// release stops counting a mapping.
func (m *Mappings) release(f *mapping) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.all, f)
	delete(m.at, f.first)
	m.bytes -= f.id.size
	if f.gone {
		m.gone -= f.id.size
	}
	if m.files[f.id] == f {
		delete(m.files, f.id)
	}
}

// Removed finds the mapped files that were removed, and returns how many bytes they still
// take.
func (m *Mappings) Removed() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	for f := range m.all {
		if f.gone {
			continue
		}
		if id, err := identify(f.path); err != nil || id != f.id {
			f.gone = true
			m.gone += f.id.size
		}
	}
	return m.gone
}

// DropFromMemory runs the collector if mapped files were removed, because unused ones take space on
// the disk of which the collector does not know.
func (m *Mappings) DropFromMemory() {
	if m.Removed() > 0 {
		runtime.GC()
	}
}

// check protects a reader from memory beyond the end of a file: reading it would kill the
// process.
func (id fileID) check(size int64) error {
	switch {
	case !id.regular:
		return fmt.Errorf("%w: not a regular file", format.ErrDamaged)
	case id.size != size:
		return fmt.Errorf("%w: %d bytes, not %d", format.ErrDamaged, id.size, size)
	}
	return nil
}
