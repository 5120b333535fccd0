package redis

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"syscall"

	goredis "github.com/redis/go-redis/v9"
)

const (
	maxLine  = 64 << 10 // bytes of a status, an error or a number
	maxItems = 1 << 17  // of an array: a step of a scan may find more than requested
	maxDepth = 4        // of arrays in arrays
)

// errReply is wrapped by the errors of malformed or unexpected answers.
var errReply = errors.New("unexpected reply")

// bounded returns a dialer whose connections fail at implausible answers: the client
// allocates the length that an answer claims before its bytes arrive.
func bounded(o *goredis.Options, maxBulk int64) func(ctx context.Context, network, address string) (net.Conn, error) {
	dial := goredis.NewDialer(o)
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		b := &boundedConn{Conn: c, replies: replies{maxBulk: maxBulk}, most: maxBulk + 2*tripBytes + perTrip*firstRead}
		if raw, ok := c.(syscall.Conn); ok { // the client uses it to check whether the connection has ended
			return &rawConn{b, raw}, nil
		}
		return b, nil
	}
}

// boundedConn is a connection with bounds on answers. It is for one reader and one writer
// in turn, as the client uses it.
type boundedConn struct {
	net.Conn
	replies replies
	most    int64 // bytes of all answers to one write
	read    int64
}

type rawConn struct {
	*boundedConn
	syscall.Conn
}

func (c *boundedConn) Write(b []byte) (int, error) {
	c.read = 0
	return c.Conn.Write(b)
}

func (c *boundedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if c.read += int64(n); c.read > c.most {
		return 0, fmt.Errorf("%w: more than %d bytes", errReply, c.most)
	}
	if wrong := c.replies.take(b[:n]); wrong != nil {
		return 0, wrong
	}
	return n, err
}

// replies parses answers of RESP 2 as their bytes arrive.
type replies struct {
	maxBulk int64
	line    int    // bytes of the line, including its kind
	kind    byte   // of the line: the first byte
	number  []byte // digits of a length
	skip    int64  // bytes of a string yet to come, with its end
	open    []int64
}

// take reads bytes, and returns an error if they break a bound.
func (r *replies) take(b []byte) error {
	for len(b) > 0 {
		if r.skip > 0 {
			n := min(r.skip, int64(len(b)))
			r.skip -= n
			b = b[n:]
			if r.skip == 0 {
				r.done()
			}
			continue
		}
		if err := r.next(b[0]); err != nil {
			return err
		}
		b = b[1:]
	}
	return nil
}

// next reads a byte of a line.
func (r *replies) next(c byte) error {
	r.line++
	switch isLength := r.kind == '$' || r.kind == '*'; {
	case r.line == 1:
		switch c {
		case '+', '-', ':', '$', '*':
			r.kind, r.number = c, r.number[:0]
			return nil
		}
		return fmt.Errorf("%w: a reply begins with %q", errReply, c)
	case r.line > maxLine || isLength && r.line > 24:
		return fmt.Errorf("%w: a line of more than %d bytes", errReply, r.line-1)
	case c != '\n':
		if isLength && c != '\r' {
			r.number = append(r.number, c)
		}
		return nil
	}
	r.line = 0
	return r.end()
}

// end ends a line.
func (r *replies) end() error {
	kind := r.kind
	r.kind = 0
	if kind != '$' && kind != '*' {
		r.done()
		return nil
	}
	n, err := strconv.ParseInt(string(r.number), 10, 64)
	switch most := map[byte]int64{'$': r.maxBulk, '*': maxItems}[kind]; {
	case err != nil || n < -1:
		return fmt.Errorf("%w: invalid length %q", errReply, r.number)
	case n > most:
		return fmt.Errorf("%w: length %d exceeds %d", errReply, n, most)
	case n == -1 || kind == '*' && n == 0:
		r.done()
	case kind == '$':
		r.skip = n + 2
	case len(r.open) == maxDepth:
		return fmt.Errorf("%w: nested lists", errReply)
	default:
		r.open = append(r.open, n)
	}
	return nil
}

// done ends an answer, and the arrays that end with it.
func (r *replies) done() {
	for len(r.open) > 0 {
		last := len(r.open) - 1
		if r.open[last]--; r.open[last] > 0 {
			return
		}
		r.open = r.open[:last]
	}
}
