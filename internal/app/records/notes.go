package records

// Types of records other than values. No Go type has one of them.
const (
	Recorded   = 0x7472616365206f66 // the dynamic dependencies of a computation
	FileDigest = 0x66696c6564696765 // the digest of a file, keyed by its state
	Holder     = 0x636f6d707574696e // the process that computes a result
	Waiting    = 0x77616974696e6720 // the process that waits for another
	// Description is the description of an operation, to which provenance refers.
	Description = 0x6465736372697074
)
