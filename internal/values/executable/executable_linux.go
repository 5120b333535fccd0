package executable

import (
	"bufio"
	"os"
	"reflect"
	"strconv"
	"strings"
	"sync"
)

// mapping is memory that is mapped from a file.
type mapping struct {
	from, to uintptr
	path     string // as the system says it, with " (deleted)" behind one that is gone
	access   string // such as r-xp
}

func (m mapping) has(at uintptr) bool { return at >= m.from && at < m.to }

// mappings lists what is mapped from files; nothing if the system does not tell.
func mappings() (list []mapping) {
	f, err := os.Open("/proc/self/maps")
	if err != nil {
		return nil
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		fields := strings.Fields(s.Text())
		name := strings.IndexByte(s.Text(), '/')
		if len(fields) < 6 || name < 0 || !strings.HasPrefix(fields[5], "/") {
			continue
		}
		from, to, _ := strings.Cut(fields[0], "-")
		a, err1 := strconv.ParseUint(from, 16, 64)
		b, err2 := strconv.ParseUint(to, 16, 64)
		if err1 == nil && err2 == nil {
			list = append(list, mapping{uintptr(a), uintptr(b), s.Text()[name:], fields[1]})
		}
	}
	return list
}

// executable returns the ranges of memory that are read-only and mapped from a
// file: what the linker laid out.
var executable = sync.OnceValues(func() (ranges [][2]uintptr, ok bool) {
	for _, m := range mappings() {
		if m.access[1] != 'w' || m.access[0] == 'r' {
			ranges = append(ranges, [2]uintptr{m.from, m.to})
		}
	}
	return ranges, len(ranges) > 0
})

// own is what is mapped from the file that this code is in.
var own = sync.OnceValue(func() (list []mapping) {
	here := reflect.ValueOf(mappings).Pointer()
	all := mappings()
	for _, m := range all {
		if !m.has(here) {
			continue
		}
		for _, other := range all {
			if other.path == m.path {
				list = append(list, other)
			}
		}
	}
	return list
})

// File returns the path of the file that this code was loaded from: the executable,
// but for a library in another program, and for one that the system's loader started.
// It is "" where the system does not tell, and for the executable itself.
func File() string {
	exe, err := os.Readlink("/proc/self/exe")
	if len(own()) == 0 || err == nil && exe == own()[0].path {
		return ""
	}
	return own()[0].path
}

// Elsewhere reports whether the code at an address was loaded from another file than
// this code: from a plugin.
func Elsewhere(at uintptr) bool {
	if len(own()) == 0 {
		return false
	}
	for _, m := range own() {
		if m.has(at) {
			return false
		}
	}
	for _, m := range mappings() {
		if m.has(at) {
			return true
		}
	}
	return false
}
