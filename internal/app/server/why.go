package server

import (
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/larder-data/larder/internal/app/explain"
	"github.com/larder-data/larder/key"
)

// why reports whether a result is cached, and otherwise how it differs from the
// most similar one.
func (c *conn) why(body []byte) error {
	var r struct {
		Function  int        `json:"function"`
		Sum       string     `json:"digest"`
		Arguments []argument `json:"arguments"`
	}
	if err := decode(body, &r); err != nil {
		return requestError{fmt.Errorf("why: %w", err)}
	}
	sum, err := key.ParseDigest(r.Sum)
	if err != nil || r.Function < 0 || r.Function >= len(c.functions) {
		return requestError{errors.New("why: no function has that number, or no arguments have that digest")}
	}
	parts, err := partsOf(r.Arguments)
	if err != nil {
		return requestError{fmt.Errorf("why: %w", err)}
	}
	cl := &call{
		server: c.server, function: c.functions[r.Function], descriptions: map[uint32][]key.Part{0: parts},
		sums: [][sha256.Size]byte{[sha256.Size]byte(sum[1:])},
	}
	l, a := c.server.options.Larder, cl.action(0)
	cached, err := l.Has(c.ctx, a.Key())
	if err != nil {
		return err
	}
	d, err := explain.Nearest(c.ctx, l, a)
	if err != nil {
		return err
	}
	reply := map[string]any{"key": l.Key(a.Key()).String(), "cached": cached, "changes": d.Changes}
	if !d.Nearest.IsZero() {
		reply["nearest"], reply["created"] = d.Nearest.String(), d.Created
	}
	return c.reply(kindWhys, reply)
}
