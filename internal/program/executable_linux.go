package program

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"sync"
)

// executable returns the ranges of memory that are read-only and mapped from a
// file: what the linker laid out.
var executable = sync.OnceValues(func() (ranges [][2]uintptr, ok bool) {
	f, err := os.Open("/proc/self/maps")
	if err != nil {
		return nil, false
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		fields := strings.Fields(s.Text())
		if len(fields) < 6 || !strings.HasPrefix(fields[5], "/") || fields[1][1] == 'w' && fields[1][0] != 'r' {
			continue
		}
		from, to, _ := strings.Cut(fields[0], "-")
		a, err1 := strconv.ParseUint(from, 16, 64)
		b, err2 := strconv.ParseUint(to, 16, 64)
		if err1 == nil && err2 == nil {
			ranges = append(ranges, [2]uintptr{uintptr(a), uintptr(b)})
		}
	}
	return ranges, len(ranges) > 0
})
