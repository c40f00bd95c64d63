/*
 * C++17: tracks this program during a block of it, then reads the samples by column, from memory.
 *
 *   c++ -std=c++17 columns.cc $(pkg-config --cflags --libs resource-tracker) -o columns && ./columns
 *
 * Threads: any thread may call column() while samples are taken. Destroy the Tracker when no other thread uses it.
 */
#include <resource_tracker.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

namespace
{
struct Closer {
	void operator()(rt_tracker *tracker) const
	{
		rt_close(tracker);
	}
	void operator()(rt_config *config) const
	{
		rt_config_free(config);
	}
};

/* Samples from construction to destruction. An exception closes the tracker on its way out. */
class Tracker
{
      public:
	explicit Tracker(const std::string &interval)
	{
		rt_config *new_config = nullptr;
		rt_tracker *new_tracker = nullptr;

		if (rt_config_new(&new_config) < 0)
			throw std::bad_alloc();
		std::unique_ptr<rt_config, Closer> config(new_config);
		if (rt_config_set_int(config.get(), "pid", getpid()) < 0 ||
		    rt_config_set(config.get(), "interval", interval.c_str()) < 0 ||
		    rt_config_set_history(config.get(), INT64_MAX, nullptr) < 0 ||
		    rt_open(config.get(), &new_tracker) < 0)
			throw std::runtime_error(rt_config_message(config.get()));
		tracker.reset(new_tracker);
		if (int error = rt_start(new_tracker); error < 0)
			throw std::runtime_error(rt_error_text("rt_start", error));
	}

	void stop()
	{
		rt_stop(tracker.get());
	}

	/* Returns a column of a CSV layout without absent values. May be called while samples are taken. */
	std::vector<double> column(const char *layout, const char *name) const
	{
		std::int64_t first = 0, count = rt_history_count(tracker.get(), &first, nullptr);
		std::vector<double> values(static_cast<std::size_t>(count));
		ssize_t read =
			rt_history_read(tracker.get(), layout, name, first, values.size(), values.data());

		if (read < 0)
			throw std::out_of_range(name);
		values.resize(static_cast<std::size_t>(read));
		values.erase(std::remove_if(values.begin(), values.end(),
					    [](double value) { return std::isnan(value); }),
			     values.end());
		return values;
	}

      private:
	std::unique_ptr<rt_tracker, Closer> tracker;
};

double largest(const std::vector<double> &values)
{
	return values.empty() ? std::nan("") : *std::max_element(values.begin(), values.end());
}

double sum(const std::vector<double> &values)
{
	return std::accumulate(values.begin(), values.end(), 0.0);
}
} // namespace

int main()
try {
	Tracker tracker("0.02");
	std::vector<double> numbers(4000000);

	std::iota(numbers.begin(), numbers.end(), 0.5);
	for (int i = 0; i < 40; i++)
		std::transform(numbers.begin(), numbers.end(), numbers.begin(),
			       [](double number) { return std::sqrt(number + 1); });
	tracker.stop();
	std::printf("%zu samples of %.2f CPU seconds, at most %.2f cores and %.0f MiB\n",
		    tracker.column("process", "timestamp").size(),
		    sum(tracker.column("process", "utime")) + sum(tracker.column("process", "stime")),
		    largest(tracker.column("process", "cpu_usage")),
		    largest(tracker.column("process", "memory_mib")));
	return EXIT_SUCCESS;
} catch (const std::exception &error) {
	std::fprintf(stderr, "%s\n", error.what());
	return EXIT_FAILURE;
}
