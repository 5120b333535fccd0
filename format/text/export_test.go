package text

import "errors"

// Scan makes the index of a text file.
var Scan = scan

// Outside checks an index of a text file, and returns the bytes outside of all samples.
func Outside(x index, b []byte) (rest []byte, err error) {
	if err := x.check(); err != nil {
		return nil, err
	}
	last := 0
	for i := range x.len() {
		at, size := x.place(i)
		if at+size > int64(len(b)) {
			return nil, errors.New("a sample lies behind the end")
		}
		rest = append(rest, b[last:at]...)
		last = int(at + size)
	}
	return append(rest, b[last:]...), nil
}
