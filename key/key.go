// Package key names computations and bytes.
//
// A [Digest] names bytes by their content. A [Key] names a computation before
// it is run: it covers the operation, the identity of its code, its parameters
// with their types, and its inputs. It is the key of an [Action], which is an
// [Op] applied to arguments ([Op.Call]) or to inputs ([Op.Action]). Values are
// encoded by [Encode], files are named by [DigestFile], and [Diff] says why two
// actions have two keys.
//
// Digests and keys are SHA-256 with one tag byte in front, which names the hash
// and the format of what was hashed, so that either can change without old
// names being mistaken for new ones.
package key

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// Size is the number of bytes of a Digest and of a Key: one tag byte and 32
// bytes of SHA-256.
const Size = 1 + sha256.Size

// Tag bytes in use. A tag is never reused for another meaning.
const (
	tagDigest byte = 1 // SHA-256 of raw bytes
	tagKey    byte = 1 // SHA-256 of an action, encoding format 1
)

// A Digest names bytes by their content. The zero Digest names nothing.
type Digest [Size]byte

// A Key names a computation. The zero Key names nothing.
type Key [Size]byte

// DigestOf returns the digest of b.
func DigestOf(b []byte) Digest {
	var d Digest
	d[0] = tagDigest
	sum := sha256.Sum256(b)
	copy(d[1:], sum[:])
	return d
}

// IsZero reports whether d names nothing.
func (d Digest) IsZero() bool { return d == Digest{} }

// String returns the text form: "d1-" and 64 hexadecimal digits.
func (d Digest) String() string { return format('d', d) }

// IsZero reports whether k names nothing.
func (k Key) IsZero() bool { return k == Key{} }

// String returns the text form: "k1-" and 64 hexadecimal digits.
func (k Key) String() string { return format('k', k) }

// ParseKey reads what [Key.String] wrote.
func ParseKey(s string) (Key, error) {
	b, err := parse('k', s)
	return Key(b), err
}

// ParseDigest reads what [Digest.String] wrote.
func ParseDigest(s string) (Digest, error) {
	b, err := parse('d', s)
	return Digest(b), err
}

func format(letter byte, b [Size]byte) string {
	return fmt.Sprintf("%c%d-%x", letter, b[0], b[1:])
}

func parse(letter byte, s string) (b [Size]byte, err error) {
	prefix := fmt.Sprintf("%c%d-", letter, tagKey)
	body, ok := strings.CutPrefix(s, prefix)
	if !ok || len(body) != hex.EncodedLen(sha256.Size) {
		return b, fmt.Errorf("key: %q is not of the form %s and %d hexadecimal digits", s, prefix, 2*sha256.Size)
	}
	if _, err := hex.Decode(b[1:], []byte(body)); err != nil {
		return [Size]byte{}, fmt.Errorf("key: %q: %w", s, err)
	}
	b[0] = tagKey
	return b, nil
}
