package dataset

import (
	"context"
	"fmt"
	"log/slog"
	"sync"

	"github.com/larder-data/larder/codec"
)

// WithLog returns a context that sends warnings about ambiguous files (see
// [codec.Doubt]) to log, once for each file. Without it they go to slog.Default.
func WithLog(ctx context.Context, log *slog.Logger) context.Context {
	return context.WithValue(ctx, doubtsKey{}, &doubts{log: log, told: map[string]bool{}})
}

type doubtsKey struct{}

// doubts logs what was noted of files, once for each.
type doubts struct {
	log *slog.Logger // nil for the default

	mu   sync.Mutex
	told map[string]bool
}

// maxTold bounds the files that are remembered and named.
const maxTold = 10_000

var unlogged = &doubts{told: map[string]bool{}}

// noting decodes and logs ambiguities, if the format has any.
func noting(ctx context.Context, c codec.Codec, b []byte, o Origin) (any, error) {
	if c.Noting == nil {
		return c.Decode(b)
	}
	var first codec.Doubt
	n := 0
	v, err := c.Noting(b, func(d codec.Doubt) {
		if n++; n == 1 {
			first = d
		}
	})
	if n > 0 && err == nil {
		told, ok := ctx.Value(doubtsKey{}).(*doubts)
		if !ok {
			told = unlogged
		}
		told.tell(Describe(o), first, n-1)
	}
	return v, err
}

// Warn logs a message about a file to the log of the context, once for each file and
// message.
func Warn(ctx context.Context, file, message string) {
	d, ok := ctx.Value(doubtsKey{}).(*doubts)
	if !ok {
		d = unlogged
	}
	if again, _ := d.note(file + "\x00" + message); !again {
		d.logger().Warn(message, "file", file)
	}
}

// note reports whether the message was logged before or exceeds the bound, and whether
// it is the last one logged.
func (d *doubts) note(what string) (again, last bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	again = d.told[what] || len(d.told) > maxTold
	last = len(d.told) == maxTold
	d.told[what] = true
	return again, last
}

func (d *doubts) logger() *slog.Logger {
	if d.log == nil {
		return slog.Default()
	}
	return d.log
}

func (d *doubts) tell(name string, first codec.Doubt, more int) {
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
		log.Warn("more files have ambiguous values", "named", maxTold)
	}
}
