/*
 * The only C++ of the recorder: toml++ behind one C function; see config_toml.h.
 *
 * toml++ reports errors without exceptions here; what the C++ library may still throw (no memory) is caught,
 * because nothing may unwind into C.
 */
#include "cli/config_toml.h"

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

/* Reading numbers with from_chars() instead of streams makes the program 400 KiB smaller. */
#if __cpp_lib_to_chars >= 201611L
#define TOML_FLOAT_CHARCONV 1
#define TOML_INT_CHARCONV 1
#endif
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#define TOML_ENABLE_UNRELEASED_FEATURES 0
#define TOML_ENABLE_WINDOWS_COMPAT 0
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wshadow"
#include <toml++/toml.h>
#pragma GCC diagnostic pop

namespace
{

/* A date and time as rt_config_set("start-at") reads it. */
std::string date_time_text(const toml::date_time &when)
{
	char text[64], zone[16] = "";

	if (when.offset) {
		int minutes = when.offset->minutes;

		std::snprintf(zone, sizeof(zone), "%c%02d:%02d", minutes < 0 ? '-' : '+',
			      (minutes < 0 ? -minutes : minutes) / 60,
			      (minutes < 0 ? -minutes : minutes) % 60);
	}
	std::snprintf(text, sizeof(text), "%04d-%02d-%02dT%02d:%02d:%02d.%09u%s", when.date.year,
		      when.date.month, when.date.day, when.time.hour, when.time.minute, when.time.second,
		      when.time.nanosecond, zone);
	return text;
}

/* False for what has no text: tables, arrays, dates alone. */
bool scalar_text(const toml::node &node, std::string &ret_text)
{
	char number[64];

	if (const auto *text = node.as_string()) {
		ret_text = text->get();
	} else if (const auto *integer = node.as_integer()) {
		ret_text = std::to_string(integer->get());
	} else if (const auto *real = node.as_floating_point()) {
		std::snprintf(number, sizeof(number), "%.15g", real->get());
		ret_text = number;
	} else if (const auto *flag = node.as_boolean()) {
		ret_text = flag->get() ? "1" : "0";
	} else if (const auto *when = node.as_date_time()) {
		ret_text = date_time_text(when->get());
	} else if (const auto *time = node.as_time()) {
		std::snprintf(number, sizeof(number), "%02d:%02d:%02d", time->get().hour, time->get().minute,
			      time->get().second);
		ret_text = number;
	} else {
		return false;
	}
	return ret_text.find('\0') == std::string::npos;
}

class reader
{
      public:
	explicit reader(const toml_visitor &given) : visitor(given)
	{
	}

	int read(const toml::table &top)
	{
		for (auto &&[key, node] : top) {
			const toml::table *table = node.as_table();
			int r = table ? read_table(std::string(key.str()), *table)
				      : read_value("", std::string(key.str()), node);
			if (r < 0)
				return r;
		}
		return 0;
	}

      private:
	int visit(const std::string &table, const std::string &key, const char *text, const toml::node &node)
	{
		return visitor.value(visitor.context, table.c_str(), key.c_str(), text,
				     node.source().begin.line);
	}

	int read_table(const std::string &name, const toml::table &table)
	{
		for (auto &&[key, node] : table) {
			int r = read_value(name, std::string(key.str()), node);

			if (r < 0)
				return r;
		}
		return 0;
	}

	int read_value(const std::string &table, const std::string &key, const toml::node &node)
	{
		std::string text;

		if (const toml::array *array = node.as_array()) {
			for (const toml::node &element : *array) {
				bool known = scalar_text(element, text);
				int r = visit(table, key, known ? text.c_str() : nullptr, element);

				if (r < 0)
					return r;
			}
			return 0;
		}
		if (const toml::table *pairs = node.as_table()) {
			for (auto &&[name, value] : *pairs) {
				bool known = scalar_text(value, text);
				std::string pair = std::string(name.str()) + "=" + text;
				int r = visit(table, key, known ? pair.c_str() : nullptr, value);

				if (r < 0)
					return r;
			}
			return 0;
		}
		return visit(table, key, scalar_text(node, text) ? text.c_str() : nullptr, node);
	}

	const toml_visitor &visitor;
};

void fill_error(const toml::parse_error &error, toml_error *ret_error)
{
	std::string_view text = error.description();
	std::size_t length =
		text.size() < sizeof(ret_error->text) ? text.size() : sizeof(ret_error->text) - 1;

	ret_error->line = error.source().begin.line;
	ret_error->column = error.source().begin.column;
	std::memcpy(ret_error->text, text.data(), length);
	ret_error->text[length] = '\0';
}

} // namespace

extern "C" int toml_read(const char *bytes, size_t length, const toml_visitor *visitor, toml_error *ret_error)
{
	try {
		toml::parse_result result = toml::parse(std::string_view(bytes, length));

		if (!result) {
			fill_error(result.error(), ret_error);
			return -EBADMSG;
		}
		return reader(*visitor).read(result.table());
	} catch (...) {
		return -ENOMEM;
	}
}
