package http

import (
	"net/http"

	"github.com/larder-data/larder/objectstore"
)

// ParseRange reads a Content-Range.
var ParseRange = parseRange

// Trusting returns a driver with the trusted certificates of a test's client.
func Trusting(c *http.Client) objectstore.Driver {
	own := newClient()
	own.Transport = c.Transport
	return &driver{client: own}
}
