// Command hippocampus is the memory server and its tools:
//
//	file, environment, flags -> config.Config -> app
//
// An error is one line on stderr; package exit lists the exit codes.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"hippocampus/server/app"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	code := execute(ctx, os.Args[1:], os.Environ(), app.Host{Out: os.Stdout, Err: os.Stderr, Now: clock})
	stop()
	os.Exit(code)
}
