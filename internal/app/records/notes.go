package records

// Types of records that are not values. No Go type has one of them.
const (
	Recorded   = 0x7472616365206f66 // which inputs a computation read while it ran
	FileDigest = 0x66696c6564696765 // the digest of a file, under its state
	Holder     = 0x636f6d707574696e // who computes something
	Waiting    = 0x77616974696e6720 // who waits for whom
)
