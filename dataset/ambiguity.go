package dataset

import (
	"context"
	"fmt"
	"image"
	"log/slog"
	"sync"

	"github.com/larder-data/larder/codec"
)

// WithLog returns a context that sends warnings about ambiguous files (see
// [codec.Ambiguity]) to log, once for each file. Without it they go to slog.Default. The
// first image whose orientation is ignored is a warning, too (see [Item.Oriented]).
func WithLog(ctx context.Context, log *slog.Logger) context.Context {
	return context.WithValue(ctx, doubtsKey{}, &doubts{log: log, reported: map[string]bool{}})
}

// WithRunLog is [WithLog] for a run that ends: end must be called then, and warns of all
// images whose orientation was ignored, with their number.
func WithRunLog(ctx context.Context, log *slog.Logger) (_ context.Context, end func()) {
	d := &doubts{log: log, reported: map[string]bool{}, counting: true}
	return context.WithValue(ctx, doubtsKey{}, d), d.endRun
}

type doubtsKey struct{}

// doubts logs what was noted of files, once for each.
type doubts struct {
	log *slog.Logger // nil for the default

	mu       sync.Mutex
	reported map[string]bool
	counting bool // turned images are counted until the end of a run
	turned   int  // images whose orientation was ignored
	first    string
}

// maxReported bounds the files that are remembered and named.
const maxReported = 10_000

var unlogged = &doubts{reported: map[string]bool{}}

// noting decodes and logs ambiguities, if the format has any.
func noting(ctx context.Context, c codec.Codec, b []byte, o Origin) (any, error) {
	if c.Noting == nil {
		v, err := c.Decode(b)
		if _, ok := v.(image.Image); ok {
			warnOfTurned(ctx, b, o)
		}
		return v, err
	}
	var first codec.Ambiguity
	n := 0
	v, err := c.Noting(b, func(d codec.Ambiguity) {
		if n++; n == 1 {
			first = d
		}
	})
	if n > 0 && err == nil {
		doubtsOf(ctx).warn(Describe(o), first, n-1)
	}
	return v, err
}

func doubtsOf(ctx context.Context) *doubts {
	if d, ok := ctx.Value(doubtsKey{}).(*doubts); ok {
		return d
	}
	return unlogged
}

// warnOfTurned notes an image that is decoded without regard to its orientation.
func warnOfTurned(ctx context.Context, b []byte, o Origin) {
	if orientation := codec.Orientation(b); orientation != codec.Upright {
		doubtsOf(ctx).turn(o, orientation)
	}
}

const turnedFix = "set orient: true in the source images, or use the mapper image-orient"

func (d *doubts) turn(o Origin, orientation int) {
	name := Describe(o)
	if d.count(name) == 1 && !d.counting {
		d.logger().Warn("the Exif orientation of images is ignored; "+turnedFix, "file", name, "orientation", orientation)
	}
}

// count counts an image once, however often it is decoded, and returns the number so far.
// It returns 0 for an image that was counted before; only the first images are remembered.
func (d *doubts) count(name string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	seen := "turned\x00" + name
	if d.reported[seen] {
		return 0
	}
	if len(d.reported) < maxReported {
		d.reported[seen] = true
	}
	if d.turned++; d.turned == 1 {
		d.first = name
	}
	return d.turned
}

// endRun warns of the images that were counted.
func (d *doubts) endRun() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.turned > 0 {
		d.logger().Warn("the Exif orientation of images was ignored; "+turnedFix, "images", d.turned, "file", d.first)
	}
	d.turned = 0
}

// Warn logs a message about a file to the log of the context, once for each file and
// message.
func Warn(ctx context.Context, file, message string) {
	d := doubtsOf(ctx)
	if again, _ := d.note(file + "\x00" + message); !again {
		d.logger().Warn(message, "file", file)
	}
}

// note reports whether the message was logged before or exceeds the bound, and whether
// it is the last one logged.
func (d *doubts) note(what string) (again, last bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	again = d.reported[what] || len(d.reported) > maxReported
	last = len(d.reported) == maxReported
	d.reported[what] = true
	return again, last
}

func (d *doubts) logger() *slog.Logger {
	if d.log == nil {
		return slog.Default()
	}
	return d.log
}

func (d *doubts) warn(name string, first codec.Ambiguity, more int) {
	again, last := d.note(name)
	if again {
		return
	}
	log := d.logger()
	text := first.String()
	if more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	log.Warn("value is ambiguous for other readers; quote it or write it differently", "file", name, "value", text)
	if last {
		log.Warn("more files have ambiguous values", "named", maxReported)
	}
}
