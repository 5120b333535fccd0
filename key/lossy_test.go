package key

import (
	"errors"
	"math/big"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/larder-data/larder/internal/values/deepequal"
)

// lossy drops all but its first field when it marshals itself.
type lossy struct{ cached, lost int }

func (l lossy) MarshalBinary() ([]byte, error)  { return []byte{byte(l.cached)}, nil }
func (l *lossy) UnmarshalBinary(b []byte) error { l.cached = int(b[0]); return nil }

// open has only exported fields: its method is not called.
type open struct{ A, B int }

func (open) MarshalText() ([]byte, error)     { return []byte("always the same"), nil }
func (*open) UnmarshalText(text []byte) error { return nil }

// oneWay marshals itself, but its bytes may be incomplete.
type oneWay struct{ a, b int }

func (o oneWay) MarshalBinary() ([]byte, error) { return []byte{byte(o.a)}, nil }

// promoter has the promoted methods of a time, which ignore its other field.
type promoter struct {
	time.Time
	other int
}

func TestURLsHaveKeysOfTheirOwn(t *testing.T) {
	seen := map[Digest]int{}
	for i, u := range []url.URL{
		{}, {Path: "/a b"}, {Path: "/a b", RawPath: "/a%20b"}, {Host: "h"}, {Host: "h", ForceQuery: true}, {Scheme: "x", Opaque: "y"}, {Scheme: "x", Path: "y"},
		{Path: "//a"}, {User: url.User("")}, {User: url.UserPassword("", "")}, {User: url.User("u")}, {User: url.UserPassword("u", "")}, {User: url.UserPassword("u", "p")},
		{Fragment: "f"}, {Fragment: "f", RawFragment: "other"}, {Path: "/"}, {OmitHost: true, Path: "/"}, {RawQuery: "%"}, {Host: "h", Path: "a"}, {Host: "h", Path: "/a"},
	} {
		for j, v := range []any{u, &u} {
			d, err := Of(v)
			if err != nil {
				t.Fatal(err)
			}
			if other, taken := seen[d]; taken {
				t.Errorf("%d and %d have one key", other, 2*i+j)
			}
			seen[d] = 2*i + j
		}
	}
}

// TestLossyMethodsDoNotNameValues checks that data that a type's own methods drop is in the key, or the value is
// refused.
func TestLossyMethodsDoNotNameValues(t *testing.T) {
	for _, v := range []any{lossy{cached: 1}, regexp.MustCompile("a|b"), netip.MustParseAddr("fe80::1%a"), []netip.Prefix{{}}} {
		if _, err := Of(v); err != nil {
			t.Errorf("%#v: %v", v, err)
		}
	}
	longest := regexp.MustCompile("a|ab")
	longest.Longest()
	for _, v := range []any{lossy{1, 2}, []any{&lossy{1, 2}}, longest} {
		_, err := Of(v)
		if u, ok := errors.AsType[*UnkeyableError](err); !ok || !errors.Is(err, deepequal.ErrLossy) || u.Fix == "" {
			t.Errorf("%#v: %v", v, err)
		}
	}
	for _, v := range []any{oneWay{}, promoter{}} {
		if _, err := Of(v); err == nil || !strings.Contains(err.Error(), "unexported") {
			t.Errorf("%#v: %v", v, err)
		}
	}
	a, _ := Of(open{1, 2})
	if b, err := Of(open{1, 3}); a == b || err != nil {
		t.Errorf("two values of exported fields have one key (%v)", err)
	}
	_ = []any{promoter{other: 1}, oneWay{b: 1}}
}

func TestMethodsThatPanic(t *testing.T) {
	if _, err := Of(struct{ V any }{nilInside{hidden: 1}}); err == nil || !strings.Contains(err.Error(), "panics") {
		t.Error(err)
	}
}

// nilInside calls a method of an embedded nil pointer.
type nilInside struct {
	*big.Rat
	hidden int
}

func (n nilInside) MarshalText() ([]byte, error) {
	return []byte(n.String() + n.Num().String()), nil
}
func (n *nilInside) UnmarshalText(text []byte) error { return nil }

// TestZonesOfOneName checks that a zone is identified by its rules.
func TestZonesOfOneName(t *testing.T) {
	at := time.Unix(0, 0)
	rome, err := time.LoadLocation("Europe/Rome")
	if err != nil {
		t.Skip("no time zones on this machine:", err)
	}
	again, _ := time.LoadLocation("Europe/Rome")
	a, _ := Of(at.In(rome))
	if b, err := Of(at.In(again)); a != b || err != nil {
		t.Errorf("a zone that was loaded twice has two keys (%v)", err)
	}
	seen := map[Digest]string{a: "Rome"}
	_, offset := at.In(rome).Zone()
	for name, loc := range map[string]*time.Location{
		"fixed": time.FixedZone("Europe/Rome", offset), "other": time.FixedZone("Europe/Rome", offset+1), "UTC": time.UTC, "fixed UTC": time.FixedZone("UTC", 0),
		"one transition": tz(t, "Europe/Rome", "\x00\x00\x00\x00"), "another transition": tz(t, "Europe/Rome", "\x01\x00\x00\x00"), "Local": time.Local,
	} {
		d, err := Of(at.In(loc))
		if err != nil {
			t.Fatal(err)
		}
		if other, taken := seen[d]; taken {
			t.Errorf("%s and %s have one key", name, other)
		}
		seen[d] = name
	}
}

// tz returns a zone file (RFC 8536) with two names for UTC and one transition, which changes nothing near 1970.
func tz(t *testing.T, name, transition string) *time.Location {
	t.Helper()
	loc, err := time.LoadLocationFromTZData(name, []byte("TZif\x00"+"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"+
		"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x02\x00\x00\x00\x08"+
		transition+"\x01"+"\x00\x00\x00\x00\x00\x00"+"\x00\x00\x00\x00\x00\x04"+"UTC\x00UCT\x00"))
	if err != nil {
		t.Fatal(err)
	}
	return loc
}
