// Package proof holds tests of invariants that need a whole server:
//
//	test -> HTTP -> app.Run in this process, on a clock that the test sets
//	                      |  faults that the test injects
//	                      v
//	                 both stores  <- the test's own connections check the invariants
//
// A server runs for 140 days (400 with --long), serves a crowd, and crashes at calls of its stores.
package proof
