#ifndef IDS_H
#define IDS_H
static int group(void) {
  return get_group_id(0);
}
#define HERE (__LINE__ + (int)get_num_groups(0))
#endif
