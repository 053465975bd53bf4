package config

import "time"

// Default is a server on loopback that needs nothing installed: SQLite, rules
// and the built-in embedder.
func Default() Config {
	return Config{
		Listen: "127.0.0.1:8080",
		Data:   "data",
		Log:    Log{Level: "info", Format: "console"},
		Database: Database{
			MaxConns: 16,
			Migrate:  true,
		},
		Milvus: Milvus{
			Port:       19530,
			Collection: "agent_memories_vectors",
			Index:      "FLAT",
			Partitions: 64,
			Timeout:    5 * time.Second,
		},
		Chat: Chat{
			BaseURL:         "https://api.deepseek.com/v1",
			ScorerModel:     "deepseek-chat",
			RouterModel:     "deepseek-chat",
			Timeout:         30 * time.Second,
			Retries:         2,
			MaxRetryWait:    20 * time.Second,
			Concurrency:     8,
			BreakerFailures: 5,
			BreakerDelay:    10 * time.Second,
		},
		Embedding: Embedding{
			BaseURL:     "https://dashscope.aliyuncs.com/compatible-mode/v1",
			Model:       "text-embedding-v4",
			Timeout:     10 * time.Second,
			Retries:     2,
			Concurrency: 8,
			Batch:       10,
			Cache:       10000,
		},
		Gate: Gate{
			Threshold:       0.7,
			EchoWindow:      10 * time.Minute,
			MergeSimilarity: 0.95,
			Attempts:        3,
			RetryDelay:      time.Second,
			RetryLimit:      5 * time.Minute,
			GiveUp:          24 * time.Hour,
		},
		Jobs: Jobs{
			Workers:     8,
			Poll:        100 * time.Millisecond,
			Lease:       20 * time.Second,
			Renew:       5 * time.Second,
			Timeout:     3 * time.Minute,
			ResumeAfter: 5 * time.Minute,
		},
		Router: Router{
			Timeout:  800 * time.Millisecond,
			Cache:    10000,
			CacheTTL: 10 * time.Minute,
		},
		Recall: Recall{
			Limit:         10,
			Candidates:    50,
			Mode:          "modulated",
			Relevance:     0.5,
			Decay:         0.2,
			Importance:    0.3,
			DecayRate:     0.99,
			Neighbour:     0.5,
			BM25K1:        1.2,
			BM25B:         0.4,
			OwnWindow:     10 * time.Second,
			OwnLimit:      1000,
			FallbackLimit: 5000,
			TouchInterval: time.Second,
			VectorTimeout: 2 * time.Second,
			EmbedTimeout:  5 * time.Second,
		},
		Projection: Projection{
			Interval:     time.Second,
			Batch:        256,
			Lease:        30 * time.Second,
			Backoff:      time.Second,
			BackoffLimit: time.Minute,
		},
		API: API{
			BodyLimit:       1 << 20,
			BatchLimit:      16 << 20,
			RateLimit:       1000,
			RateBurst:       2000,
			WaitTimeout:     30 * time.Second,
			KeyCache:        5 * time.Second,
			ShutdownTimeout: 20 * time.Second,
		},
	}
}
