package loop

import "math"

// Sizes are the numbers of memories of users: quantiles of a log-normal distribution, from
// least to most. Its median is their geometric mean.
func Sizes(users, least, most int) []int {
	median := math.Sqrt(float64(least) * float64(most))
	sizes := make([]int, users)
	for i := range sizes {
		z := normal((float64(i) + 0.5) / float64(users))
		if users > 1 {
			z /= normal(1 - 0.5/float64(users)) // -1 for the first user, 1 for the last one
		}
		sizes[i] = int(math.Round(median * math.Pow(float64(most)/median, z)))
	}
	return sizes
}

// normal is the quantile of the standard normal distribution at p, 0 to 1.
func normal(p float64) float64 { return math.Sqrt2 * math.Erfinv(2*p-1) }
