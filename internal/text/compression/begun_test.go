package compression

import (
	"bytes"
	"encoding/base64"
	"io"
	"testing"
	"testing/iotest"
)

// packedBy has a string compressed in each format.
func packedBy(t *testing.T, text string) map[Packing][]byte {
	t.Helper()
	all := map[Packing][]byte{}
	for _, how := range []Packing{Gzip, Zstd, XZ} {
		var b bytes.Buffer
		w, done, err := Writer(how, &b)
		if err == nil {
			_, err = io.WriteString(w, text)
		}
		if err == nil {
			err = done()
		}
		if err != nil {
			t.Fatal(err)
		}
		all[how] = b.Bytes()
	}
	return all
}

// TestByItsBeginning checks that a file is unpacked by its first bytes, whatever its name.
func TestByItsBeginning(t *testing.T) {
	for _, name := range []string{"a.jsonl", "a.tar", "a", "a.gz", "a.zst", "a.bz2"} {
		for _, text := range []string{"", "text\n"} {
			for how, b := range packedBy(t, text) {
				if how == Zstd && text == "" {
					continue // no bytes can represent it
				}
				if got, err := readPacked(name, b); err != nil || string(got) != text {
					t.Errorf("%s, %s: %q, %v", name, how, got, err)
				}
			}
		}
	}
	bzip2, err := base64.StdEncoding.DecodeString(ofOthers["streams.bz2"])
	if err != nil {
		t.Fatal(err)
	}
	if got, err := readPacked("a.txt", bzip2); err != nil || len(got) == 0 {
		t.Errorf("bzip2: %q, %v", got, err)
	}
	if how := ByHead([]byte("BZh9\x17rE8P\x90\x00\x00\x00\x00")); how != Bzip2 {
		t.Errorf("bzip2 of nothing is treated as %s", how)
	}
}

// TestPlainBeginnings checks that plain text is not treated as compressed, even if it
// describes such files, and that only the deciding bytes are awaited.
func TestPlainBeginnings(t *testing.T) {
	for _, text := range []string{"", "B", "BZh", "BZh91AY&SY", "BZh91AY&SY is how bzip2 begins, 1f 8b is gzip", "(\xb5", "\x1f\x8b", "\xfd7zX", "{}\n"} {
		if got, err := readPacked("a.txt", []byte(text)); err != nil || string(got) != text {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
	from, to := io.Pipe()
	go func() { _, _ = io.WriteString(to, "{}\n") }()
	r, err := Reader("standard input", from)
	if err != nil {
		t.Fatal(err)
	}
	line := make([]byte, 3)
	if _, err := io.ReadFull(r, line); err != nil || string(line) != "{}\n" { // while to is not closed
		t.Errorf("%q, %v", line, err)
	}
	for how, b := range packedBy(t, "text\n") {
		r, err := Reader("standard input", iotest.OneByteReader(bytes.NewReader(b)))
		if err != nil {
			t.Fatal(how, err)
		}
		if got, err := io.ReadAll(r); err != nil || string(got) != "text\n" {
			t.Errorf("%s by single bytes: %q, %v", how, got, err)
		}
	}
}
