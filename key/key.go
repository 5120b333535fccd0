// Package key provides digests of bytes and keys of computations.
//
// A [Digest] identifies bytes by their content. A [Key] identifies a computation before
// it runs: it covers the operation, the identity of its code, its parameters with their
// types, and its inputs. It is the key of an [Action], which is an [Op] applied to
// arguments ([Op.Call]) or to inputs ([Op.Action]). [Encode] encodes values,
// [DigestFile] digests files, and [Diff] explains why two actions have two keys.
//
// Digests and keys are SHA-256 with one tag byte in front. The tag identifies the hash
// and the format of what was hashed, so that old and new formats stay distinct.
package key

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"strconv"
	"strings"
)

// Size is the number of bytes of a Digest and of a Key: one tag byte and 32 bytes of
// SHA-256.
const Size = 1 + sha256.Size

// Tag bytes in use. A tag is never reused for another meaning.
const (
	tagDigest byte = 1 // SHA-256 of raw bytes
	tagKey    byte = 1 // SHA-256 of an action
	tagSpace  byte = 2 // first 24 bytes of a key, and the namespace: see Space
)

// A Digest identifies bytes by their content. The zero Digest identifies nothing.
type Digest [Size]byte

// A Key identifies a computation. The zero Key identifies nothing.
type Key [Size]byte

// DigestOf returns the digest of b.
func DigestOf(b []byte) Digest {
	var d Digest
	d[0] = tagDigest
	sum := sha256.Sum256(b)
	copy(d[1:], sum[:])
	return d
}

// A Digester computes a digest of bytes that arrive in several Writes. Its zero value
// is ready to use. It is not safe for concurrent use.
type Digester struct{ h hash.Hash }

func (d *Digester) Write(p []byte) (int, error) {
	if d.h == nil {
		d.h = sha256.New()
	}
	return d.h.Write(p)
}

// Digest is [DigestOf] of all bytes written.
func (d *Digester) Digest() (sum Digest) {
	_, _ = d.Write(nil)
	sum[0] = tagDigest
	d.h.Sum(sum[:1])
	return sum
}

// IsZero reports whether d is the zero Digest.
func (d Digest) IsZero() bool { return d == Digest{} }

// String returns "d1-" and 64 hexadecimal digits.
func (d Digest) String() string { return format('d', d) }

// IsZero reports whether k is the zero Key.
func (k Key) IsZero() bool { return k == Key{} }

// String returns "k1-", or in a namespace "k2-", and 64 hexadecimal digits.
func (k Key) String() string { return format('k', k) }

// ParseKey parses the output of [Key.String].
func ParseKey(s string) (Key, error) {
	b, err := parse('k', s)
	return Key(b), err
}

// ParseDigest parses the output of [Digest.String].
func ParseDigest(s string) (Digest, error) {
	b, err := parse('d', s)
	return Digest(b), err
}

// A Space is a namespace of keys. The keys of actions are in the zero Space.
type Space [8]byte

// SpaceOf returns the namespace with the given name; the empty name gives the zero
// Space.
func SpaceOf(name string) (s Space) {
	if name != "" {
		d := DigestOf([]byte("larder namespace\x00" + name))
		copy(s[:], d[1:])
	}
	return s
}

// Key returns the key that represents k in the namespace. The zero Key, and a key that
// is in a namespace already, represent themselves.
func (s Space) Key(k Key) Key {
	if s == (Space{}) || k[0] != tagKey {
		return k
	}
	k[0] = tagSpace
	copy(k[Size-len(s):], s[:])
	return k
}

// Has reports whether k is in the namespace.
func (s Space) Has(k Key) bool {
	if k[0] != tagSpace {
		return s == Space{}
	}
	return Space(k[Size-len(s):]) == s
}

func format(letter byte, b [Size]byte) string {
	return string(appendName(make([]byte, 0, nameBytes), letter, b))
}

const nameBytes = 5 + 2*sha256.Size

func appendName(text []byte, letter byte, b [Size]byte) []byte {
	text = append(strconv.AppendUint(append(text, letter), uint64(b[0]), 10), '-')
	return hex.AppendEncode(text, b[1:])
}

func parse(letter byte, s string) (b [Size]byte, err error) {
	prefix, tag := fmt.Sprintf("%c%d-", letter, tagKey), tagKey
	if in := fmt.Sprintf("k%d-", tagSpace); letter == 'k' && strings.HasPrefix(s, in) {
		prefix, tag = in, tagSpace
	}
	body, ok := strings.CutPrefix(s, prefix)
	if !ok || len(body) != hex.EncodedLen(sha256.Size) {
		return b, fmt.Errorf("key: %q is not of the form %s and %d hexadecimal digits", s, prefix, 2*sha256.Size)
	}
	if _, err := hex.Decode(b[1:], []byte(body)); err != nil {
		return [Size]byte{}, fmt.Errorf("key: %q: %w", s, err)
	}
	b[0] = tag
	return b, nil
}
