package main

import (
	"cmp"
	"os"
	"time"

	"github.com/spf13/cobra"

	"hippocampus/cmd/bench/quality"
)

func peersCommand() *cobra.Command {
	var mem0, hindsight, embedder, embedderModel, file string
	var store int
	o := quality.PeersOptions{Rest: 2 * time.Minute, Progress: os.Stderr}
	c := &cobra.Command{
		Use: "peers DIR|FILE...", Short: "Quality, speed and memory of this server and of mem0 and Hindsight, side by side",
		Args: someConversations,
		Long: "Quality, speed and memory of this server and of mem0 and Hindsight, side by side.\n\n" +
			"scripts/peers/run installs and starts the peers, and calls this.",
		RunE: func(c *cobra.Command, paths []string) error {
			o.Paths = paths
			if embedder != "" {
				o.Embedder = embedderSettings(embedder, embedderModel, "")
			}
			if mem0 != "" {
				o.Peers = append(o.Peers, quality.Peer{Name: "mem0", URL: mem0, API: quality.Mem0})
			}
			if hindsight != "" {
				o.Peers = append(o.Peers, quality.Peer{
					Name: "Hindsight", URL: hindsight, API: quality.Hindsight, Store: store,
				})
			}
			r, err := quality.MeasurePeers(c.Context(), o)
			if err != nil {
				return err
			}
			return deliver(r, file)
		},
	}
	f := c.Flags()
	f.StringVar(&mem0, "mem0", "", "http://127.0.0.1:PORT of scripts/peers/mem0; empty: it is not measured")
	f.StringVar(&hindsight, "hindsight", "", "http://127.0.0.1:PORT of Hindsight; empty: it is not measured")
	f.IntVar(&store, "hindsight-store", 0, "port of Hindsight's Postgres on this machine, whose memory counts")
	f.StringVar(&embedder, "embedder", "",
		"base URL of the embedder of the peers; empty: this server is measured by defaults only")
	f.StringVar(&embedderModel, "embedder-model", "bge-small-en-v1.5", "model of that endpoint")
	f.IntVar(&o.Clients, "clients", 8, "that recall at the same time")
	f.DurationVar(&o.For, "for", 10*time.Second, "how long they recall")
	jsonFlag(c, &file)
	return c
}

// embedderSettings are the settings of a server that embeds by an endpoint, with $OPENAI_API_KEY if there is one.
func embedderSettings(url, model, queryPrefix string) []string {
	return []string{
		"QWEN_API_KEY=" + cmp.Or(os.Getenv("OPENAI_API_KEY"), "bench"), "QWEN_API_BASE=" + url,
		"MEMORY_EMBEDDING_MODEL=" + model,
		"HIPPOCAMPUS_EMBEDDING_QUERY_PREFIX=" + queryPrefix,
	}
}
