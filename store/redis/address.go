package redis

import (
	"errors"
	"net/url"
	"strconv"
	"strings"

	goredis "github.com/redis/go-redis/v9"
)

// errAddress does not repeat the address, which may contain a password.
var errAddress = errors.New("redis: invalid server address; write redis://host:6379/0, rediss://user:password@host:6379/0 or unix:///path/of/socket?db=0, with special characters as %XX")

// parse reads the address of a server. shown is the part that may be shown.
func parse(address string) (o *goredis.Options, shown string, err error) {
	u, err := url.Parse(address)
	if err != nil || u.Fragment != "" || u.Opaque != "" {
		return nil, "", errAddress
	}
	for name, values := range u.Query() {
		number, err := strconv.Atoi(values[0])
		if u.Scheme != "unix" || name != "db" || len(values) > 1 || err != nil || number < 0 {
			return nil, "", errAddress // anything else would be an option of the library
		}
	}
	if u.Scheme == "unix" && strings.Contains(u.EscapedPath(), "@") {
		return nil, "", errAddress // with an extra slash, a user would be part of the path
	}
	if u.Scheme == "unix" && !strings.HasPrefix(u.Path, "/") || u.Scheme != "unix" && u.Hostname() == "" {
		return nil, "", errAddress
	}
	if o, err = goredis.ParseURL(address); err != nil {
		return nil, "", errAddress
	}
	u.User = nil
	return o, u.String(), nil
}
