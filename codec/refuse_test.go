package codec_test

import (
	"errors"
	"fmt"
	"net"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/larder-data/larder/codec"
)

func refused[T any](t *testing.T, path string) {
	t.Helper()
	for range 2 { // the second answer is remembered
		_, err := codec.For[T]()
		e, ok := errors.AsType[*codec.UnencodableError](err)
		if !ok {
			t.Errorf("%v: %v", reflect.TypeFor[T](), err)
			return
		}
		if e.Path != path || e.Fix == "" || !strings.HasPrefix(e.Error(), "codec: "+path+": ") {
			t.Errorf("%v: path %s, want %s", e, e.Path, path)
		}
	}
}

type (
	connected struct {
		Name string
		conn *net.Conn
	}
	deep      struct{ Items map[string][]*connected }
	halfKnown struct {
		time.Time
		secret int
	}
	wrapped struct{ connected }
)

func TestForRefusesWhatWouldBeLost(t *testing.T) {
	_ = connected{conn: nil}
	_ = halfKnown{secret: 0}
	refused[connected](t, "connected.conn")
	refused[deep](t, "deep.Items[][].conn")
	refused[halfKnown](t, "halfKnown.secret")
	refused[wrapped](t, "wrapped.connected.conn")
	refused[func()](t, "func()")
	refused[chan int](t, "chan int")
	refused[uintptr](t, "uintptr")
	refused[error](t, "error")
	refused[map[*int]int](t, "map[*int]int[key]")
	refused[map[any]int](t, "map[interface {}]int[key]")
	refused[struct{ F []func() }](t, "struct { F []func() }.F[]")
}

func TestEncodeRefusesUnknownTypesBehindAny(t *testing.T) {
	c, err := codec.For[[]any]()
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []any{connected{}, func() {}, []connected{}, struct{ A int }{}, make(chan int), octets{1}} {
		_, err := c.Encode(nil, []any{1, map[string]any{"in": v}})
		e, ok := errors.AsType[*codec.UnencodableError](err)
		if want := fmt.Sprintf(`[]interface {}[1].(map[string]interface {})["in"].(%T)`, v); !ok || e.Path != want {
			t.Errorf("%T: %v; path %s", v, err, want)
		}
	}
}

// endless checks that encoding v ends in an error.
func endless[T any](t *testing.T, v T) {
	t.Helper()
	c, err := codec.For[T]()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Encode(nil, v); err == nil || len(err.Error()) > 1000 {
		t.Errorf("a %T without end: %v", v, err)
	}
}

func TestValuesWithoutEndAreErrors(t *testing.T) {
	chain := &list{}
	for range 1 << 20 {
		chain = &list{chain}
	}
	endless(t, chain)
	var deep any
	for range 20_000 {
		deep = [1]any{deep}
	}
	endless(t, deep)
}

func TestFingerprintsTellTypesApart(t *testing.T) {
	seen := map[uint64]string{}
	add := func(typ uint64, name string) {
		if other, taken := seen[typ]; taken {
			t.Errorf("%s and %s have one fingerprint", name, other)
		}
		seen[typ] = name
	}
	type A struct{ X int }
	type B struct{ X int }
	add(fingerprintOf[int](t), "int")
	add(fingerprintOf[int64](t), "int64")
	add(fingerprintOf[celsius](t), "celsius")
	add(fingerprintOf[float64](t), "float64")
	add(fingerprintOf[A](t), "A")
	add(fingerprintOf[B](t), "B")
	add(fingerprintOf[*A](t), "*A")
	add(fingerprintOf[[]A](t), "[]A")
	add(fingerprintOf[[2]A](t), "[2]A")
	add(fingerprintOf[[3]A](t), "[3]A")
	add(fingerprintOf[struct{ X int }](t), "struct X")
	add(fingerprintOf[struct{ Y int }](t), "struct Y")
	add(fingerprintOf[map[string]A](t), "map A")
	add(fingerprintOf[map[string]B](t), "map B")
	add(fingerprintOf[node](t), "node")
	add(fingerprintOf[[]byte](t), "[]byte")
	add(fingerprintOf[string](t), "string")
	{
		type A struct{ X, Y int } // of the same package and name as the other A
		add(fingerprintOf[A](t), "another A")
		add(fingerprintOf[struct{ P *A }](t), "one that reaches another A")
	}
	add(fingerprintOf[struct{ P *A }](t), "one that reaches A")
}

func fingerprintOf[T any](t *testing.T) uint64 {
	t.Helper()
	c, err := codec.For[T]()
	if err != nil {
		t.Fatal(err)
	}
	return c.Type
}

func TestPlain(t *testing.T) {
	plain := func(want, got bool) {
		t.Helper()
		if got != want {
			t.Errorf("plain is %v", got)
		}
	}
	plain(true, isPlain[int](t))
	plain(true, isPlain[string](t))
	plain(true, isPlain[hidden](t))
	plain(true, isPlain[[3]struct{ T time.Time }](t))
	plain(false, isPlain[[]byte](t))
	plain(false, isPlain[struct{ P *int }](t))
	plain(false, isPlain[struct{ A any }](t))
	plain(false, isPlain[map[string]int](t))
}

func isPlain[T any](t *testing.T) bool {
	t.Helper()
	c, err := codec.For[T]()
	if err != nil {
		t.Fatal(err)
	}
	return c.Plain
}
