// Package rapidrace reduces what is drawn at random under the race detector, which makes it up to ten times as slow:
//
//	a test imports the package -> each property is checked 20 times instead of 100
//
// Runs without the race detector, and scripts/test --long, draw all.
package rapidrace
