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
	path     string // from the system, with " (deleted)" after one that is gone
	access   string // such as r-xp
}

func (m mapping) has(at uintptr) bool { return at >= m.from && at < m.to }

// mappings lists the mappings of files; none if the system does not report them.
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

// executable returns the read-only ranges of memory that are mapped from a file: the
// linker's output.
var executable = sync.OnceValues(func() (ranges [][2]uintptr, ok bool) {
	for _, m := range mappings() {
		if m.access[1] != 'w' || m.access[0] == 'r' {
			ranges = append(ranges, [2]uintptr{m.from, m.to})
		}
	}
	return ranges, len(ranges) > 0
})

// own returns the mappings of the file that contains this code.
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

// File returns the path of the file that this code was loaded from, if that is not the
// executable: a library in another program, or a program started by the system's
// loader. It returns "" for the executable, and where the system does not report it.
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
