package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"os"
	"strings"

	goredis "github.com/redis/go-redis/v9"

	"github.com/larder-data/larder/internal/text/display"
	"github.com/larder-data/larder/store"
	"github.com/larder-data/larder/store/bucket"
	"github.com/larder-data/larder/store/redis"
)

const (
	// sharedName is the variable that names the store that machines share. It may contain
	// a password, which a flag must not, because flags are visible to all users.
	sharedName = "LARDER_STORE"
	// secretName is the variable with the secret that signs results in a bucket.
	secretName = "LARDER_STORE_SECRET"
)

// sharedStore is a store that machines share.
type sharedStore interface {
	store.Store
	fmt.Stringer // the address without credentials
}

// openShared opens the store that machines share, if one is named.
func (a *app) openShared(log *slog.Logger) (s sharedStore, named bool, err error) {
	text, from := a.store, "--store"
	if text == "" {
		text, from = os.Getenv(sharedName), "the variable "+sharedName
	} else if u, err := url.Parse(text); err == nil && u.User != nil {
		return nil, true, usageError{fmt.Errorf("--store: its user and password are visible to all users of this machine; set %s instead", sharedName)}
	}
	if text == "" {
		return nil, false, nil
	}
	scheme, _, _ := strings.Cut(text, "://")
	switch strings.ToLower(scheme) {
	case "redis", "rediss", "unix":
		s, err = openRedis(text, log)
	case "s3", "gs", "az":
		s, err = openBucket(text, log)
	default:
		err = errors.New("unknown kind of store; write redis://host:6379/0 or s3://bucket/directory")
	}
	if err != nil {
		return nil, true, usageError{fmt.Errorf("%s: %s", from, display.WithoutPackages(err.Error()))}
	}
	return s, true, nil
}

func openRedis(text string, log *slog.Logger) (sharedStore, error) {
	goredis.SetLogger(mute{}) // the store reports what matters
	o, err := sharedOptions(text)
	if err != nil {
		return nil, err
	}
	o.Logger = log
	return redis.Open(o)
}

// openBucket opens a store in a bucket. Its only setting is read-only.
func openBucket(text string, log *slog.Logger) (sharedStore, error) {
	text, readOnly := strings.CutSuffix(text, "?read-only")
	if strings.Contains(text, "?") {
		return nil, errors.New("unknown setting; valid: read-only")
	}
	secret, set := os.LookupEnv(secretName)
	if set && secret == "" { // perhaps a secret that was not found
		return nil, fmt.Errorf("%s is empty; unset it to use results without a signature", secretName)
	}
	return bucket.Open(bucket.Options{URL: text, ReadOnly: readOnly, Secret: []byte(secret), Logger: log})
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
func (a *app) sharedTotal(ctx context.Context) (*sharedJSON, error) {
	s, named, err := a.openShared(slog.New(slog.DiscardHandler)) // the error contains it
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
