// Package native has images read by libraries of the machine: JPEG by
// libjpeg-turbo, WebP by libwebp, in a quarter of the time that Go's own take.
// JPEG is written by libjpeg-turbo, too.
//
// The libraries are found when the program runs, by the names that systems give
// them; nothing has to be there when it is built, and no C compiler. Where a
// library is not there, its format is read as without this package. What a
// library reads otherwise than package codec does, or finds anything wrong with,
// package codec reads: an image is an error with the one exactly if it is one
// with the other, but for damage that libraries do not notice.
//
// Pixels may differ by some levels between decoders. So the name of the library
// and a digest of its very file are part of the codec's ID, and of all keys that
// depend on what was decoded.
//
// A library is code that is given bytes of anybody. It is bounded by
// [codec.MaxPixels] as all decoders are, but a fault in it ends the process.
package native

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/larder-data/larder/codec"
)

// formats are those that a library can read, by the name of the codec.
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

// Use has libraries read images, from the first use of package codec on. With ""
// these are all that the machine has, with "none" there are none; else the names
// of formats, with commas between them, whose libraries must be there. It is
// called once, when the program starts; further calls can only ask for the same.
func Use(which string) error {
	chosen.Lock()
	defer chosen.Unlock()
	if chosen.made && chosen.by != which {
		return fmt.Errorf("native: libraries were chosen by %q; they cannot be by %q any more", chosen.by, which)
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
			return fmt.Errorf("native: no library reads %q; it can be %s, none, or empty", name, strings.Join(Formats(), ","))
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

// Formats are the names of the formats that libraries can read.
func Formats() []string {
	var names []string
	for _, f := range formats {
		names = append(names, f.name)
	}
	return names
}
