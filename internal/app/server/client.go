package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
)

// ErrNone is the error for a socket where no server listens.
var ErrNone = errors.New("no server listens there")

// StatusOf requests the status of the server at a socket.
func StatusOf(ctx context.Context, socket string) (*Status, error) {
	var st Status
	err := ask(ctx, socket, func(c net.Conn) error {
		f, err := exchange(c, kindStatus, nil)
		if err != nil {
			return err
		}
		return json.Unmarshal(f.body, &st)
	})
	return &st, err
}

// End makes the server at a socket end when its clients have disconnected.
func End(ctx context.Context, socket string) error {
	return ask(ctx, socket, func(c net.Conn) error {
		_, err := c.Write(appendFrame(nil, kindEnd, func(b []byte) []byte { return b }))
		return err
	})
}

// ask connects to a server, and calls questions with the connection.
func ask(ctx context.Context, socket string, questions func(c net.Conn) error) error {
	var d net.Dialer
	c, err := d.DialContext(ctx, "unix", socket)
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) {
		return ErrNone
	}
	if err != nil {
		return err
	}
	defer c.Close()
	defer context.AfterFunc(ctx, func() { _ = c.Close() })()
	if _, err := exchange(c, kindHello, map[string]any{"protocol": []int{protocolVersion}, "client": "larder"}); err != nil {
		return err
	}
	return questions(c)
}

// exchange sends a request, and returns its reply.
func exchange(c net.Conn, k kind, body any) (frame, error) {
	b := appendFrame(nil, k, func(b []byte) []byte { return b })
	if body != nil {
		var err error
		if b, err = appendJSON(nil, k, body); err != nil {
			return frame{}, err
		}
	}
	if _, err := c.Write(b); err != nil {
		return frame{}, err
	}
	for {
		f, err := readFrame(c, maxReply)
		switch {
		case err != nil:
			return f, fmt.Errorf("the server has gone: %w", err)
		case f.kind == kindError:
			var e struct{ Code, Text string }
			_ = json.Unmarshal(f.body, &e)
			return f, fmt.Errorf("the server: %s (%s)", e.Text, e.Code)
		case f.kind != kindNote:
			return f, nil
		}
	}
}
