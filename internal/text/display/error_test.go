package display_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/larder-data/larder/internal/text/display"
)

// TestError checks that errors of the system are shown without its calls, wherever they are
// wrapped, and that the rest stays.
func TestError(t *testing.T) {
	missing := &fs.PathError{Op: "lstat", Path: "/b", Err: syscall.ENOENT}
	for want, err := range map[string]error{
		"node in: /b: no such file or directory":                          fmt.Errorf("node in: %w", missing),
		"x; /b: no such file or directory\n/c: no space left on the disk": fmt.Errorf("x; %w", errors.Join(missing, &fs.PathError{Op: "write", Path: "/c", Err: syscall.ENOSPC})),
		"/n already exists":                                           &os.LinkError{Op: "rename", Old: "/o", New: "/n", Err: syscall.EEXIST},
		"/o: no such file or directory":                               &os.LinkError{Op: "rename", Old: "/o", New: "/n", Err: syscall.ENOENT},
		"/d is a directory, not a file":                               &fs.PathError{Op: "read", Path: "/d", Err: syscall.EISDIR},
		`"/a\x1b[2J": permission denied by the file or its directory`: &fs.PathError{Op: "open", Path: "/a\x1b[2J", Err: syscall.EACCES},
		"/p: broken pipe":                                             &fs.PathError{Op: "write", Path: "/p", Err: syscall.EPIPE},
		"no directory /no/such":                                       &fs.PathError{Op: "open", Path: "/no/such/.x.123", Err: syscall.ENOENT},
		"plain":                                                       errors.New("plain"),
	} {
		if got := display.Error(err); got != want {
			t.Errorf("%v is %q, want %q", err, got, want)
		}
	}
}

// TestShort checks that invalid characters are escaped, and that a long string is cut.
func TestShort(t *testing.T) {
	for text, want := range map[string]string{
		"a b\n":                  "a b\n",
		"\x00\xff":               `\u0000\xff`,
		strings.Repeat("é", 201): strings.Repeat("é", 200) + "… (402 bytes)",
	} {
		if got := display.Short(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

// TestName checks that a name is one line that moves no cursor, and that a plain name is
// unchanged.
func TestName(t *testing.T) {
	for name, want := range map[string]string{
		"a b":                           "a b",
		"ä é":                           "ä é",
		"":                              `""`,
		"a\nlarder: all is well":        `"a\nlarder: all is well"`,
		"a\tb":                          `"a\tb"`,
		"\x1b[2J":                       `"\x1b[2J"`,
		"\xff":                          `"\xff"`,
		"\u202e":                        `"\u202e"`,
		`"a"`:                           `"\"a\""`,
		`a"b`:                           `a"b`,
		strings.Repeat("é", 201):        strings.Repeat("é", 200) + "… (402 bytes)",
		"\n" + strings.Repeat("é", 200): `"\n` + strings.Repeat("é", 199) + `"… (401 bytes)`,
	} {
		if got := display.Name(name); got != want {
			t.Errorf("%q is %s, want %s", name, got, want)
		}
	}
}
