package compression

import (
	"bytes"
	"errors"
	"io"
	"unicode/utf8"
)

var begins = map[Packing][]string{
	Gzip: {"\x1f\x8b\x08"}, Zstd: {"\x28\xb5\x2f\xfd"}, XZ: {"\xfd7zXZ\x00"},
	Bzip2: {"BZh?1AY&SY", "BZh?\x17rE8P\x90"}, // the second one is for empty content
}

// HeadBytes is the number of bytes that [ByHead] needs.
const HeadBytes = 32

// ByHead returns the format of a file that begins with head. UTF-8 text is Plain.
func ByHead(head []byte) Packing {
	if utf8.Valid(head) {
		return Plain // also text that describes the head of bzip2
	}
	for p, all := range begins {
		for _, begin := range all {
			if len(head) >= len(begin) && agree(head, begin) {
				return p
			}
		}
	}
	return Plain
}

// agree compares the common length. A question mark matches any byte.
func agree(head []byte, begin string) bool {
	for i := range min(len(head), len(begin)) {
		if begin[i] != '?' && head[i] != begin[i] {
			return false
		}
	}
	return true
}

// Begun returns the format of the input of r, and a reader of the whole input. It reads
// no more than it needs.
func Begun(r io.Reader) (Packing, io.Reader, error) {
	head := make([]byte, 0, HeadBytes)
	for len(head) < HeadBytes && undecided(head) {
		n, err := r.Read(head[len(head):HeadBytes])
		head = head[:len(head)+n]
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return Plain, nil, err
		}
	}
	return ByHead(head), io.MultiReader(bytes.NewReader(head), r), nil
}

func undecided(head []byte) bool {
	for _, all := range begins {
		for _, begin := range all {
			if agree(head, begin) {
				return true
			}
		}
	}
	return false
}
