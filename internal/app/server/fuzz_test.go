package server

import (
	"bytes"
	"io"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/larder-data/larder/key"
)

// FuzzProtocol checks that after any input of a client the server answers or ends the
// connection, and serves others.
func FuzzProtocol(f *testing.F) {
	hello := appendFrame(nil, kindHello, func(b []byte) []byte { return append(b, `{"protocol":[1],"client":"fuzz"}`...) })
	json := func(k kind, text string) []byte {
		return appendFrame(nil, k, func(b []byte) []byte { return append(b, text...) })
	}
	open := `{"flow":{"text":"version: 1\nnodes:\n  a: {source: toy, with: {}}\n","dir":"/tmp"},"parts":[{"node":"a","only":[1,2]}],"batch":{"size":2}}`
	f.Add([]byte{})
	f.Add(json(kindOpen, open))
	f.Add(append(json(kindOpen, open), json(kindStart, `{"window":2,"epochs":1}`)...))
	f.Add(append(json(kindOpen, open), json(kindStart, `{"from":"1.AAAAAAAAAAAAAAAAAAAA.0.0.0","share":1,"shares":2}`)...))
	f.Add(append(json(kindStatus, ""), json(kindEnd+7, "")...))
	f.Add(json(kindGet, `{"samples":[1,2,3]}`))
	f.Add(json(kindRelease, "\x00\x00\x00\x00"))
	f.Add(json(kindKeep, "\x00\x00\x00\x00"))
	f.Add(json(kindStop, ""))
	function := json(kindFunction, `{"name":"f","code":{"version":"1"}}`)
	call := json(kindCall, string(make([]byte, callHead+64)))
	made := appendComputed(nil, 1, 0, computedLast, "x")
	f.Add(slices.Concat(function, call, appendComputed(nil, 1, 1, 0, "y"), made))
	f.Add(slices.Concat(function, call, call, made, made))
	f.Add(slices.Concat(function, call, json(kindAbout, `{"token":1,"items":[{"index":0,"arguments":[]}]}`), appendComputed(nil, 1, 0, computedFailed|computedLast, "")))
	f.Add(slices.Concat(function, json(kindForget, string(make([]byte, callHead+32))), json(kindWhy, `{"function":0,"digest":"`+key.DigestOf(nil).String()+`"}`)))
	f.Add(json(kindFunction, `{"name":"f","code":{"digest":"d1-"}}`))
	f.Fuzz(func(t *testing.T, sent []byte) {
		if bytes.Contains(sent, []byte{byte(kindEnd), 0, 0, 0}) {
			return // it ends the server, as it should
		}
		socket, _, _ := serverFor(t, Options{})
		c, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: socket, Net: "unix"})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if err := c.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
			t.Fatal(err)
		}
		go func() {
			_, _ = c.Write(append(bytes.Clone(hello), sent...)) // otherwise the server has ended the connection
			_ = c.CloseWrite()
		}()
		if n, err := io.Copy(io.Discard, c); err != nil && n == 0 {
			t.Errorf("no answer: %v", err)
		}
		connect(t, socket)
	})
}

func FuzzFrame(f *testing.F) {
	f.Add([]byte{2, 0, 0, 0, 1, 0, 0, 0, '{', '}'})
	f.Add([]byte{255, 255, 255, 255, 1, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		read, err := readFrame(bytes.NewReader(b), 1<<16)
		if err != nil {
			return
		}
		again := appendFrame(nil, read.kind, func(to []byte) []byte { return append(to, read.body...) })
		if !bytes.HasPrefix(b, again) {
			t.Errorf("%x was read as %x", b, again)
		}
	})
}
