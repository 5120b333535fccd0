package server

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// SocketDir returns the directory of the sockets of a user's servers.
func SocketDir() string {
	if dir := os.Getenv("XDG_RUNTIME_DIR"); dir != "" {
		return filepath.Join(dir, "larder")
	}
	return filepath.Join(os.TempDir(), "larder-"+strconv.Itoa(os.Getuid()))
}

// Socket returns the path of the socket for a cache directory and a server program:
// docs/reference/protocol.md describes how it is computed.
func Socket(cache, program string) (string, error) {
	program, err := filepath.EvalSymlinks(program)
	if err != nil {
		return "", fmt.Errorf("the program of the server: %w", err)
	}
	info, err := os.Stat(program)
	if err != nil {
		return "", fmt.Errorf("the program of the server: %w", err)
	}
	if cache, err = resolved(cache); err != nil {
		return "", fmt.Errorf("the cache directory: %w", err)
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "larder 1\n%s\n%s\n%d %d\n", cache, program, info.Size(), info.ModTime().UnixNano()))
	return filepath.Join(SocketDir(), hex.EncodeToString(sum[:16])+socketSuffix), nil
}

const socketSuffix = ".sock"

// resolved returns an absolute path, with links resolved as far as the path exists.
func resolved(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	rest := ""
	for at := path; ; at = filepath.Dir(at) {
		real, err := filepath.EvalSymlinks(at)
		if err == nil {
			return filepath.Join(real, rest), nil
		}
		if at == filepath.Dir(at) {
			return path, nil
		}
		rest = filepath.Join(filepath.Base(at), rest)
	}
}

// ErrServed is the error for a socket on which another server listens.
var ErrServed = errors.New("another server listens there")

// Listen listens at a socket, in a directory that only the user can enter. The
// caller must call done when the server has ended. If another server has the
// socket, the error is [ErrServed]. Listen replaces the socket of a killed server.
func Listen(ctx context.Context, socket string) (l *net.UnixListener, done func(), err error) {
	if err := makeDir(filepath.Dir(socket)); err != nil {
		return nil, nil, err
	}
	file, err := os.OpenFile(strings.TrimSuffix(socket, socketSuffix)+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, nil, err
	}
	fail := func(err error) (*net.UnixListener, func(), error) {
		_ = file.Close()
		return nil, nil, err
	}
	ours, err := lock(file)
	if err != nil {
		return fail(fmt.Errorf("%s: %w", file.Name(), err))
	}
	if !ours {
		return fail(ErrServed)
	}
	if err := os.Remove(socket); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fail(err)
	}
	var c net.ListenConfig
	any, err := c.Listen(ctx, "unix", socket)
	if err != nil {
		return fail(err)
	}
	l = any.(*net.UnixListener)
	l.SetUnlinkOnClose(true)
	if err := os.Chmod(socket, 0o600); err != nil {
		_ = l.Close()
		return fail(err)
	}
	// The lock is released when the program ends, after the socket is removed;
	// until then no other server can listen. The file stays, because another
	// process may wait for its lock.
	return l, func() { _ = file.Close() }, nil
}

// makeDir creates the directory for sockets, and refuses one that other users
// can enter.
func makeDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("the directory of sockets: %w", err)
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return fmt.Errorf("the directory of sockets: %w", err)
	}
	if !info.IsDir() || !ownDir(info) {
		return fmt.Errorf("the directory of sockets, %s, must be your own, with mode 0700; set XDG_RUNTIME_DIR, or TMPDIR, to have another", dir)
	}
	return nil
}
