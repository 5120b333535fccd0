package key

import (
	"bytes"
	"crypto/md5"
	"io"
	"strings"
	"testing"
)

// TestStreamsAreBytes checks that data hashed in parts has the same encoding as the whole.
func TestStreamsAreBytes(t *testing.T) {
	for _, size := range []int{0, 1, 100, spillAt, 5*spillAt + 3} {
		content := bytes.Repeat([]byte("x"), size)
		stream := Stream{Size: int64(size), Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil }}
		whole := map[string]any{"a": content, "b": "text", "c": []any{1, content}}
		b, err := encodeContents(nil, whole)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range []map[string]any{whole, {"a": stream, "b": "text", "c": []any{1, stream}}} {
			h := md5.New()
			if err := HashContents(h, v); err != nil {
				t.Fatal(err)
			}
			if want := md5.Sum(b); !bytes.Equal(h.Sum(nil), want[:]) {
				t.Errorf("%d bytes have another hash", size)
			}
		}
		if _, err := Encode(nil, stream); err == nil || !strings.Contains(err.Error(), "stream") {
			t.Errorf("a stream was encoded: %v", err)
		}
		stream.Size++
		if err := HashContents(md5.New(), stream); err == nil {
			t.Error("a stream that ends early was hashed")
		}
	}
	if d, err := Of("x"); err != nil || d.IsZero() {
		t.Errorf("after that, %v, %v", d, err) // with a new encoder
	}
}
