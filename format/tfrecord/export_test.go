package tfrecord

import "context"

// CheckExample reads an example, writes it, and reports whether it reads the same again.
func CheckExample(b []byte) (read, same bool) {
	all, err := parseExample(b)
	if err != nil {
		return false, false
	}
	again, err := parseExample(encodeExample(all))
	if err != nil || len(again) != len(all) {
		return true, false
	}
	for i, f := range all {
		if string(encodeExample([]feature{f})) != string(encodeExample([]feature{again[i]})) {
			return true, false
		}
	}
	return true, true
}

// CheckIndex checks the entries of an index against a file of n bytes.
func CheckIndex(b []byte, size int64) bool {
	x := index(b)
	if x.check() != nil {
		return false
	}
	for i := range x.records() {
		if at, n := x.record(i); at < 0 || n < 0 || at+int64(n)+tailBytes > size {
			return false
		}
	}
	return true
}

// Scan makes the index of a file.
func Scan(ctx context.Context, from []byte, incomplete bool) ([]byte, error) {
	return scan(ctx, "a.tfrecord", reader(from), int64(len(from)), incomplete)
}

type reader []byte

func (r reader) ReadAt(b []byte, at int64) (int, error) { return copy(b, r[at:]), nil }
