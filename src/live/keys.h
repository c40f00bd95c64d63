/* The keys of the live view. */
#pragma once

/* Keys that are not characters. */
enum view_key {
	KEY_OF_UP = 0x110000,
	KEY_OF_DOWN,
	KEY_OF_LEFT,
	KEY_OF_RIGHT,
	KEY_OF_HOME,
	KEY_OF_END,
	KEY_OF_PAGE_UP,
	KEY_OF_PAGE_DOWN,
	KEY_OF_ENTER,
	KEY_OF_BACK,
};
