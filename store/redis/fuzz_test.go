package redis

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
	"github.com/larder-data/larder/store/storetest"
)

type keyOf = key.Key

// FuzzRecord checks that any bytes that decode as a record are the encoding of that record.
func FuzzRecord(f *testing.F) {
	for _, r := range []store.Record{
		{Key: storetest.Key(1)},
		{Key: storetest.Key(1), Payload: []byte("payload"), Provenance: []byte("origin"), Type: 3, Cost: time.Second, Created: time.Unix(5, 6)},
		{Key: storetest.Key(1), Link: storetest.Key(2)},
	} {
		f.Add(encode(&r, time.Unix(60, 0)))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := decodeHeader(storetest.Key(1), b)
		if err != nil {
			return
		}
		r, err := decode(h, b)
		if err != nil {
			return
		}
		again := encode(&r, time.Unix(60, 0))
		if !bytes.Equal(again[:checkedTo], b[:checkedTo]) || !bytes.Equal(again[headerSize:], b[headerSize:]) {
			t.Errorf("%x is read as %+v, which is written as %x", b, r, again)
		}
	})
}

func FuzzManifest(f *testing.F) {
	f.Add(encodeManifest(&store.Manifest{Name: "name", Pinned: true, Note: []byte("note"), Keys: []key.Key{{}, storetest.Key(1)}}))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := decodeManifest(b)
		if err != nil {
			return
		}
		again, err := decodeManifest(encodeManifest(&m))
		if err != nil || again.Name != m.Name || !again.Time.Equal(m.Time) || again.Pinned != m.Pinned || !bytes.Equal(again.Note, m.Note) || len(again.Keys) != len(m.Keys) {
			t.Errorf("%+v became %+v, %v", m, again, err)
		}
	})
}

// FuzzAddress checks that an address is accepted, or refused with an error that does not contain it.
func FuzzAddress(f *testing.F) {
	for _, text := range []string{"redis://u:hunter2@h:1/2", "rediss://h", "unix:///tmp/s?db=1", "http://h", "redis://u:hunter2@:::1", "redis://h?pool_size=0"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		_, shown, err := parse(text)
		if err == nil && shown == "" {
			t.Errorf("%q is taken and not shown", text)
		}
		if err != nil && !errors.Is(err, errAddress) {
			t.Errorf("%q: %v", text, err)
		}
	})
}

func TestAddresses(t *testing.T) {
	for text, want := range map[string]string{
		"redis://user:hunter2@host:6380/3":       "redis://host:6380/3",
		"rediss://:hunter2@host":                 "rediss://host",
		"unix://user:hunter2@/run/redis?db=2":    "unix:///run/redis?db=2",
		"redis://host?pool_size=1":               "",
		"redis://user:hunter2@host:port":         "",
		"redis://user:hunter2@ho st":             "",
		"redis://":                               "",
		"unix://relative":                        "",
		"unix:///user:hunter2@/run/redis":        "",
		"unix:/user:hunter2@/run/redis":          "",
		"unix:///run/a%40b":                      "unix:///run/a%40b",
		"http://user:hunter2@host":               "",
		"redis://host/a":                         "",
		"":                                       "",
		"unix:///run/redis?db=1&db=2":            "",
		"unix:///run/redis?db=-1":                "",
		"redis://user:hunter2@host:6379/0#place": "",
	} {
		o, shown, err := parse(text)
		if shown != want || (err == nil) != (want != "") {
			t.Errorf("%q is shown as %q, %v, want %q", text, shown, err, want)
		}
		if err == nil && (o.TLSConfig != nil) != (text[:6] == "rediss") {
			t.Errorf("%q: TLS %v", text, o.TLSConfig)
		}
		if err != nil && bytes.Contains([]byte(err.Error()), []byte("hunter2")) {
			t.Errorf("%q: the error repeats the password: %v", text, err)
		}
	}
	for _, o := range []Options{{MaxRecord: -1}, {MaxRecord: 1 << 40}, {Timeout: -1}, {LeaseTime: time.Millisecond}, {LeaseTime: 2 * time.Hour}} {
		o.URL = "redis://host"
		if _, err := Open(o); err == nil {
			t.Errorf("%+v is taken", o)
		}
	}
}
