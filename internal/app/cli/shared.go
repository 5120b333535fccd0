package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"os"

	goredis "github.com/redis/go-redis/v9"

	"github.com/larder-data/larder/internal/text/display"
	"github.com/larder-data/larder/store/redis"
)

// sharedName is the variable that names the store that machines share. It is
// not a flag, because it may contain a password and flags are visible to all
// users.
const sharedName = "LARDER_SHARED"

// openShared opens the store that machines share, if one is named.
func openShared(log *slog.Logger) (s *redis.Store, named bool, err error) {
	text := os.Getenv(sharedName)
	if text == "" {
		return nil, false, nil
	}
	goredis.SetLogger(mute{}) // the store reports what matters
	o, err := sharedOptions(text)
	if err == nil {
		o.Logger = log
		s, err = redis.Open(o)
	}
	if err != nil {
		return nil, true, usageError{fmt.Errorf("the variable LARDER_SHARED: %s", display.WithoutPackages(err.Error()))}
	}
	return s, true, nil
}

// mute discards the log.
type mute struct{}

func (mute) Printf(context.Context, string, ...any) {}

// sharedOptions parses the address of a server followed by settings.
func sharedOptions(text string) (o redis.Options, err error) {
	u, err := url.Parse(text)
	if err != nil {
		return redis.Options{URL: text}, nil // the error of Redis does not repeat the URL
	}
	rest := url.Values{}
	for name, values := range u.Query() {
		switch name {
		case "prefix":
			o.Prefix = values[0]
		case "max-bytes":
			o.MaxBytes, err = sharedBytes(name, values[0])
		case "max-record":
			o.MaxRecord, err = sharedBytes(name, values[0])
		case "db":
			rest[name] = values
		default:
			// The error does not contain the name, which may be a misplaced
			// password.
			err = errors.New("unknown setting; valid: max-bytes, max-record, prefix")
		}
		if err != nil {
			return o, err
		}
	}
	u.RawQuery = rest.Encode()
	o.URL = u.String()
	return o, nil
}

func sharedBytes(name, text string) (int64, error) {
	if name == "max-bytes" && text == "none" {
		return -1, nil
	}
	n, err := display.ParseSize(text)
	if err != nil || n == 0 {
		return 0, fmt.Errorf("%s is not a size such as 4GiB", name)
	}
	return n, nil
}

// sharedJSON is the part of larder stats about the store that machines share.
type sharedJSON struct {
	Server  string `json:"server"`
	Records int64  `json:"records"`
	Bytes   int64  `json:"bytes"`
	Limit   int64  `json:"limit"`           // 0 for none
	Error   string `json:"error,omitempty"` // why the numbers are unknown
}

// sharedTotal sums up the store that machines share; nil if there is none.
func sharedTotal(ctx context.Context) (*sharedJSON, error) {
	s, named, err := openShared(slog.New(slog.DiscardHandler)) // the error contains it
	if err != nil || !named {
		return nil, err
	}
	u, err := s.Usage(ctx)
	j := &sharedJSON{s.String(), u.Records, u.Bytes, u.Limit, ""}
	if err != nil {
		j.Error = display.WithoutPackages(err.Error())
	}
	return j, errors.Join(ctx.Err(), s.Close())
}

func writeShared(w io.Writer, j *sharedJSON) error {
	if j == nil {
		return nil
	}
	limit := "without limit"
	if j.Limit > 0 {
		limit = "of " + size(j.Limit)
	}
	text := fmt.Sprintf("%d %s, %s %s; %s", j.Records, plural(j.Records, "record"), bytesOf(j.Bytes), limit, j.Server)
	if j.Error != "" {
		text = j.Error
	}
	_, err := fmt.Fprintf(w, "shared: %s\n", text)
	return written(err)
}
