// Package native provides image decoding with libraries of the machine, in a quarter of the
// time of Go's decoders: JPEG by libjpeg-turbo, WebP by libwebp. libjpeg-turbo also writes
// JPEG.
//
// The program finds the libraries at run time: next to itself, and on Linux also by their
// usual names. Building it needs neither them nor a C compiler. Without a library, package
// codec reads its format. Package codec also reads everything that a library reads
// differently or finds faulty. So an image is an error with a library exactly if it is one
// without, except for damage that libraries do not notice.
//
// Pixels may differ by a few levels between decoders. So the name of the library and a
// digest of its file are part of the codec's ID, and of all keys that depend on decoded
// values.
//
// A library reads untrusted bytes. [codec.MaxPixels] bounds it like all decoders, but a
// fault in it ends the process.
package native

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/larder-data/larder/codec"
)

// formats lists the formats that a library can read, by the name of the codec.
var formats = []struct {
	name string
	open func() (codec.Library, error)
}{
	{"jpeg", openTurbo},
	{"webp", openWebP},
}

var chosen struct {
	sync.Mutex
	made bool
	by   string
	err  error
}

// Use makes libraries decode images, from the first use of package codec on. "" selects all
// libraries of the machine, "none" none of them. Otherwise which lists formats, separated
// by commas, whose libraries must exist. Call it once, when the program starts; further
// calls must pass the same value.
func Use(which string) error {
	chosen.Lock()
	defer chosen.Unlock()
	if chosen.made && chosen.by != which {
		return fmt.Errorf("native: libraries were already chosen as %q, not %q; choose once", chosen.by, which)
	}
	if !chosen.made {
		chosen.made, chosen.by = true, which
		chosen.err = use(which)
	}
	return chosen.err
}

func use(which string) error {
	if which == "none" {
		return nil
	}
	var names []string
	if which != "" {
		names = strings.Split(which, ",")
	}
	for _, name := range names {
		if !slices.Contains(Formats(), name) {
			return fmt.Errorf("native: no library reads %q; give %s, none, or an empty string", name, strings.Join(Formats(), ","))
		}
	}
	for _, f := range formats {
		if names != nil && !slices.Contains(names, f.name) {
			continue
		}
		l, err := f.open()
		if err == nil {
			err = codec.Use(l)
		} else if names == nil {
			continue
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Formats returns the names of the formats that libraries can read.
func Formats() []string {
	var names []string
	for _, f := range formats {
		names = append(names, f.name)
	}
	return names
}
