/* Tests of src/job/memory/page_sample.c: the choice of pages. */
#include "job/memory/page_sample.h"
#include "unit.h"

static void each_block_has_one_page(void **state)
{
	(void)state;
	for (unsigned level = 0; level < 12; level++)
		for (uint64_t block = 0; block < 500; block++) {
			uint64_t page = page_sample_at(level, block);

			assert_int_equal(page >> level, block);
			assert_true(page_is_sampled(level, page));
		}
}

static void pages_of_a_coarse_level_are_pages_of_each_finer_one(void **state)
{
	(void)state;
	for (uint64_t block = 0; block < 500; block++)
		for (unsigned level = 0; level <= 14; level++)
			assert_true(page_is_sampled(level, page_sample_at(14, block)));
}

/* A job that writes every other page, or every 512th, must not coincide with the stride of the sample. */
static void strides_are_met_in_their_proportion(void **state)
{
	size_t hits[9] = {0};

	(void)state;
	for (uint64_t block = 0; block < 4096; block++)
		for (unsigned bits = 1; bits <= 8; bits++)
			hits[bits] += page_sample_at(8, block) % (1U << bits) == 0;
	for (unsigned bits = 1; bits <= 5; bits++) {
		double expected = 4096.0 / (1U << bits);

		assert_true((double)hits[bits] >= 0.8 * expected && (double)hits[bits] <= 1.2 * expected);
	}
}

static void levels_follow_the_number_of_samples(void **state)
{
	(void)state;
	assert_int_equal(page_sample_level(0, 512, 512), 0);
	assert_int_equal(page_sample_level(0, 1024, 512), 1);
	assert_int_equal(page_sample_level(3, 0, 512), 3);
	assert_int_equal(page_sample_level(0, UINT64_MAX, 1), PAGE_LEVEL_MOST);
}

static void sets_are_thinned_and_united(void **state)
{
	struct page_places places = {0};

	(void)state;
	for (int twice = 0; twice < 2; twice++)
		for (uint64_t page = 0; page < 1024; page++)
			assert_true(page_places_add(&places, 7, page));
	assert_int_equal(page_places_count_at(&places, 4), 2 * 64);
	page_places_unite(&places);
	assert_int_equal(places.count, 1024);
	page_places_thin(&places, 4);
	assert_int_equal(places.count, 64);
	assert_int_equal(places.level, 4);
	page_places_thin(&places, 2);
	assert_int_equal(places.count, 64);
	page_places_done(&places);
}

static void two_places_are_sorted_by_space_and_page(void **state)
{
	struct page_places places = {0};

	(void)state;
	page_places_sort(&places);
	assert_true(page_places_add(&places, 8, 1) && page_places_add(&places, 7, 9));
	page_places_sort(&places);
	assert_int_equal(places.at[0].space, 7);
	assert_true(page_places_add(&places, 7, 3) && page_places_add(&places, 8, 0));
	page_places_sort(&places);
	assert_int_equal(places.at[0].page, 3);
	assert_int_equal(places.at[1].page, 9);
	assert_int_equal(places.at[2].page, 0);
	assert_int_equal(places.at[3].page, 1);
	/* The same page of two spaces is two pages. */
	assert_true(page_places_add(&places, 8, 3));
	page_places_unite(&places);
	assert_int_equal(places.count, 5);
	page_places_done(&places);
	assert_int_equal(places.count, 0);
}

static void sets_keep_the_sampled_pages_wherever_they_stand(void **state)
{
	struct page_places places = {0};
	const uint64_t kept[] = {page_sample_at(2, 0), page_sample_at(2, 5)};

	(void)state;
	/* A page that is not sampled stands first, and then last. */
	assert_true(page_places_add(&places, 1, kept[0] ^ 1));
	assert_true(page_places_add(&places, 1, kept[0]));
	assert_true(page_places_add(&places, 2, kept[1]));
	assert_true(page_places_add(&places, 2, kept[1] ^ 1));
	assert_int_equal(page_places_count_at(&places, 0), 4);
	assert_int_equal(page_places_count_at(&places, 2), 2);
	page_places_thin(&places, 0);
	assert_int_equal(places.count, 4);
	page_places_thin(&places, 2);
	assert_int_equal(places.count, 2);
	assert_true(places.at[0].page == kept[0] && places.at[1].page == kept[1] && places.at[1].space == 2);
	assert_int_equal(places.level, 2);
	/* It gets no finer again. */
	assert_true(page_places_add(&places, 1, kept[0] ^ 1));
	page_places_thin(&places, 1);
	assert_int_equal(places.level, 2);
	assert_int_equal(places.count, 3);
	page_places_done(&places);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_block_has_one_page),
		cmocka_unit_test(pages_of_a_coarse_level_are_pages_of_each_finer_one),
		cmocka_unit_test(strides_are_met_in_their_proportion),
		cmocka_unit_test(levels_follow_the_number_of_samples),
		cmocka_unit_test(sets_are_thinned_and_united),
		cmocka_unit_test(two_places_are_sorted_by_space_and_page),
		cmocka_unit_test(sets_keep_the_sampled_pages_wherever_they_stand),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
