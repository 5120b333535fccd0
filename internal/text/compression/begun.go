package compression

import (
	"bytes"
	"errors"
	"io"
	"unicode/utf8"
)

// begins has what files begin with.
var begins = map[Packing][]string{
	Gzip: {"\x1f\x8b\x08"}, Zstd: {"\x28\xb5\x2f\xfd"}, XZ: {"\xfd7zXZ\x00"},
	Bzip2: {"BZh?1AY&SY", "BZh?\x17rE8P\x90"}, // the second one of nothing
}

// HeadBytes is how much of a file tells [ByHead] how it is compressed.
const HeadBytes = 32

// ByHead returns how a file is compressed that begins with head. Text in UTF-8 is not.
func ByHead(head []byte) Packing {
	if utf8.Valid(head) {
		return Plain // also of what tells how bzip2 begins
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

// agree compares as much as both have. A question mark stands for any byte.
func agree(head []byte, begin string) bool {
	for i := range min(len(head), len(begin)) {
		if begin[i] != '?' && head[i] != begin[i] {
			return false
		}
	}
	return true
}

// Begun returns how what r reads is compressed, as its beginning says, and a reader of all of it.
// It waits for no more than tells.
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
