// Package proof proves what only a whole server can show, by its tests:
//
//	test -> HTTP -> app.Run in this process, on a clock that the test sets
//	                      |  faults that the test puts in
//	                      v
//	                 both stores  <- the test's own openings: what must hold of them
//
// A server lives 400 days, serves a crowd, and crashes at every call of a store.
package proof
