// Command chaos writes to servers while they are killed, their stores and models hang or
// are cut off, and their clocks jump. It then compares the stores with a ledger of what
// the servers have acknowledged:
//
//	writers -> HTTP -> built binaries -> proxies -> Postgres, Milvus, models
//	   |                  ^ kill -9, clock  ^ hang, cut  ^ crash
//	ledger -> expectation -> checker <- export, turns, vectors, verification
//
// scripts/chaos runs it. It exits with 1 if it finds a violation, and with 2 if it
// could not do its work.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"golang.org/x/time/rate"

	"hippocampus/cmd/bench/target"
)

// options of a run.
type options struct {
	size    target.Size
	servers int
	crashes string // folder of the services that crash; empty: no store crashes
	disk    int    // MiB of the disk that gets full; 0: it does not
	seed    uint64
	length  time.Duration
	rate    float64
	writers int
	users   int
	settle  time.Duration
}

func main() {
	var o options
	minutes := flag.Float64("minutes", 2, "how long requests and faults go on")
	size := flag.String("size", string(target.Small), "sqlite, postgres+milvus or pgvector")
	flag.IntVar(&o.servers, "replicas", 1, "servers on the same stores, for sizes with Postgres")
	flag.StringVar(&o.crashes, "crashes", "", "crash and restart the stores; scripts/services keeps them in this folder")
	flag.IntVar(&o.disk, "full-disk", 0, "for sqlite, as root: put the data on a disk of so many MiB, and fill it")
	flag.Uint64Var(&o.seed, "seed", uint64(time.Now().UnixNano()), "decides the requests and the faults")
	flag.Float64Var(&o.rate, "rate", 12, "requests a second at most")
	flag.IntVar(&o.writers, "writers", 6, "concurrent writers")
	flag.IntVar(&o.users, "users", 24, "users, divided among the writers")
	flag.DurationVar(&o.settle, "settle", 3*time.Minute, "how long the server may take after the last fault")
	flag.Parse()
	o.size, o.length = target.Size(*size), time.Duration(*minutes*float64(time.Minute))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	violated, err := run(ctx, o)
	stop()
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "chaos:", err)
		os.Exit(2)
	case violated:
		os.Exit(1)
	}
}

// run makes one run and prints its report.
func run(ctx context.Context, o options) (violated bool, err error) {
	if o.size != target.Small && o.size != target.Large && o.size != target.Pgvector {
		return false, fmt.Errorf("--size is %s, %s or %s", target.Small, target.Large, target.Pgvector)
	}
	switch {
	case o.servers < 1 || o.servers > 1 && o.size == target.Small:
		return false, errors.New("--replicas is at least 1, and more than 1 only with Postgres")
	case o.crashes != "" && o.size == target.Small:
		return false, errors.New("--crashes is for sizes with Postgres")
	case o.disk != 0 && o.size != target.Small:
		return false, errors.New("--full-disk is for the size sqlite")
	}
	if o.writers < 1 || o.users < o.writers {
		return false, errors.New("--users is at least --writers, which is at least 1")
	}
	folder, err := os.MkdirTemp("", "hippocampus-chaos-")
	if err != nil {
		return false, err
	}
	fmt.Printf("chaos: %s with %d servers for %s, seed %d\n", o.size, o.servers, o.length, o.seed)
	k, err := start(ctx, o, folder)
	if err != nil {
		return false, err
	}
	file, err := os.Create(filepath.Join(folder, "ledger.jsonl"))
	if err != nil {
		return false, errors.Join(err, k.close())
	}
	out := bufio.NewWriter(file)
	ledger := &Ledger{out: out}
	report, err := disturbed(ctx, o, k, ledger)
	err = errors.Join(err, ledger.err, out.Flush(), file.Close())
	if err == nil {
		report.print(o, ledger)
	}
	violated = len(report.violations) > 0
	if violated || err != nil {
		log := os.WriteFile(filepath.Join(folder, "server.log"), []byte(k.logs()), 0o600)
		err = errors.Join(err, log, k.close())
		fmt.Printf("the ledger and the end of the server's log are in %s\n", folder)
		return violated, err
	}
	return false, errors.Join(k.close(), os.RemoveAll(folder))
}

// disturbed lets the writers write during the faults, and inspects the stores afterwards.
func disturbed(ctx context.Context, o options, k *keeper, ledger *Ledger) (*Report, error) {
	report := &Report{}
	client := NewClient(k.addresses(), target.Key)
	during, stop := context.WithTimeout(ctx, o.length)
	defer stop()
	limiter := rate.NewLimiter(rate.Limit(o.rate), 1)
	var writers []*writer
	for i := range o.writers {
		w := &writer{
			erasing: map[string]bool{}, x: Expect(nil), random: rand.New(rand.NewPCG(o.seed, uint64(i))),
			client: client, ledger: ledger, limiter: limiter, stopping: during,
		}
		for user := i; user < o.users; user += o.writers {
			w.users = append(w.users, fmt.Sprintf("user%02d", user))
		}
		writers = append(writers, w)
	}
	var working sync.WaitGroup
	for _, w := range writers {
		working.Go(func() { w.work(ctx) })
	}
	err := disturb(during, o.seed, k, &report.counts)
	stop()
	working.Wait()
	if err := errors.Join(err, k.calm(ctx)); err != nil || ctx.Err() != nil {
		return report, errors.Join(err, ctx.Err())
	}
	limited, cancel := context.WithTimeout(ctx, o.settle)
	defer cancel()
	for _, w := range writers {
		w.stopping = limited
		for user := range w.erasing {
			for w.erasing[user] && limited.Err() == nil {
				w.erase(ctx, user)
			}
		}
	}
	violations, took, err := settle(ctx, k, client, Expect(ledger.Entries()), o.settle)
	report.settled = took
	report.violations = append(ledger.Blamed(), violations...)
	return report, err
}
